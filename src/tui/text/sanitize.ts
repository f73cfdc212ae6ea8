/**
 * Text from agents, patches, logs and file names is data (law 9). Everything that a terminal could obey, or that changes
 * the order or the visibility of text, is replaced by something that can be seen, so that a reviewer reads what is there.
 * Each function is one scan: its time grows with the length of the text and nothing else.
 */

/** Columns from one tab stop to the next. */
const TAB_STOP = 4;

/**
 * Characters that never reach the terminal as they are: C0 but `\n`, DEL, C1, bidirectional controls, invisible and
 * line-breaking format characters, tags, lone surrogates (`u` flag: a pair is one character and does not match).
 */
const UNSAFE =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}\ud800-\udfff]/u;
const UNSAFE_ALL = new RegExp(UNSAFE.source, 'gu');

/**
 * Inert text that may have several lines. Tabs become spaces up to the next stop; other controls become their control
 * pictures (`␛`, `␍`, `␡`); C1, bidirectional and invisible characters become `<U+202E>`; lone surrogates become U+FFFD.
 */
export function sanitizeText(text: string): string {
  if (!UNSAFE.test(text)) return text;
  return expandTabs(text).replace(UNSAFE_ALL, visible);
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
  if (lastReturn >= 0) text = text.slice(lastReturn + 1);
  // Select graphic rendition and erase in line only: neither hides text once it is gone. `[^…]` runs can't overlap.
  if (text.includes('\u001b[')) text = text.replace(/\u001b\[[0-9;:]*[mK]/g, '');
  return sanitizeLine(text);
}

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

function expandTabs(text: string): string {
  if (!text.includes('\t')) return text;
  const pieces: string[] = [];
  let column = 0;
  let from = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === 0x0a) column = 0;
    else if (unit !== 0x09) column++;
    else {
      const spaces = TAB_STOP - (column % TAB_STOP);
      pieces.push(text.slice(from, index), ' '.repeat(spaces));
      column += spaces;
      from = index + 1;
    }
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}
