/**
 * Text from agents, patches, logs and file names is data (law 9). Everything that a terminal could obey, or that changes
 * the order or the visibility of text, is replaced by something that can be seen, so that a reviewer reads what is there.
 * Each function is one scan: its time grows with the length of the text and nothing else.
 */

/** Columns from one tab stop to the next. */
const TAB_STOP = 4;
/** Spaces to the next stop from column `index` past one. */
const TABS = ['    ', '   ', '  ', ' '];

/**
 * Characters that never reach the terminal as they are: C0 but `\n`, DEL, C1, bidirectional controls, invisible and
 * line-breaking format characters, tags, lone surrogates (`u` flag: a pair is one character and does not match).
 */
const UNSAFE =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}\ud800-\udfff]/u;

/**
 * Inert text that may have several lines. Tabs become spaces up to the next stop; other controls become their control
 * pictures (`␛`, `␍`, `␡`); C1, bidirectional and invisible characters become `<U+202E>`; lone surrogates become U+FFFD.
 */
export function sanitizeText(text: string): string {
  if (!UNSAFE.test(text)) return text;
  // Joined in batches: one rope or one array of a piece per hostile character makes the collector the slowest part.
  const batches: string[] = [];
  let pieces: string[] = [];
  let from = 0;
  let column = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    column++;
    if (unit >= 0x20 && unit < 0x7f) continue;
    if (unit === 0x0a) {
      column = 0;
      continue;
    }
    const code = unit >= 0xd800 && unit <= 0xdbff ? (text.codePointAt(index) ?? unit) : unit;
    const units = code > 0xffff ? 2 : 1;
    if (code > 0x9f && !UNSAFE.test(text.slice(index, index + units))) {
      index += units - 1;
      continue;
    }
    const replacement = code === 0x09 ? (TABS[(column - 1) % TAB_STOP] ?? '') : visible(code);
    pieces.push(text.slice(from, index), replacement);
    if (pieces.length >= 4096) {
      batches.push(pieces.join(''));
      pieces = [];
    }
    column += replacement.length - 1;
    index += units - 1;
    from = index + 1;
  }
  batches.push(...pieces, text.slice(from));
  return batches.join('');
}

/** Inert text on one line: as {@link sanitizeText}, and a line feed becomes `␊`. For titles, names and grid cells. */
export function sanitizeLine(text: string): string {
  const safe = sanitizeText(text);
  return safe.includes('\n') ? safe.replaceAll('\n', '\u240a') : safe;
}

/**
 * One line of program output, without its line feed. Colour sequences are dropped and a progress bar shows its last
 * state, because they are the daily noise of logs; everything else is as in {@link sanitizeLine}.
 */
export function sanitizeLogLine(line: string): string {
  let text = line.endsWith('\r') ? line.slice(0, -1) : line;
  const lastReturn = text.lastIndexOf('\r');
  // The mark says that something was overwritten: a log must not be able to hide what it said.
  if (lastReturn >= 0) text = `\u240d${text.slice(lastReturn + 1)}`;
  // Select graphic rendition and erase in line only: neither hides text once it is gone. `[^…]` runs can't overlap.
  if (text.includes('\u001b[')) text = text.replace(/\u001b\[[0-9;:]*[mK]/g, '');
  return sanitizeLine(text);
}

function visible(code: number): string {
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}
