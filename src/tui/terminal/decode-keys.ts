/**
 * Bytes of the keyboard → keys. One read may hold several keys (`jj`), half an escape sequence, Esc followed by a key, or
 * a bracketed paste. Trusts nothing: unknown sequences are swallowed whole, a paste is text and never keys.
 */
export interface Key {
  /** A printable cluster as it is, or a name: `enter`, `esc`, `tab`, `up`, `pgdn`, `ctrl-d`, `paste`, … */
  readonly name: string;
  /** What a text field inserts; absent for keys that are no text. */
  readonly text?: string;
}

export interface KeyDecoder {
  push(chunk: string): readonly Key[];
  /** True when bytes wait for their rest; call `flush` when none came for some 30 ms. */
  readonly pending: boolean;
  flush(): readonly Key[];
}

const ESC = '\u001b';
const PASTE_START = `${ESC}[200~`;
const PASTE_END = `${ESC}[201~`;
/** A paste longer than this is cut: no field takes more. */
const MAX_PASTE = 64 * 1024;

export function keyDecoder(): KeyDecoder {
  let rest = '';
  let paste: string | null = null;
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

  function decode(final: boolean): Key[] {
    const keys: Key[] = [];
    while (rest !== '') {
      if (paste !== null) {
        const end = rest.indexOf(PASTE_END);
        // Keep what could be the start of the end mark; while a paste is open nothing of it is a key.
        const take = end >= 0 ? end : Math.max(0, rest.length - (PASTE_END.length - 1));
        if (paste.length < MAX_PASTE) paste += rest.slice(0, Math.min(take, MAX_PASTE - paste.length));
        rest = rest.slice(take);
        if (end < 0) return keys;
        rest = rest.slice(PASTE_END.length);
        keys.push({ name: 'paste', text: paste });
        paste = null;
        continue;
      }
      if (rest.startsWith(PASTE_START)) {
        rest = rest.slice(PASTE_START.length);
        paste = '';
        continue;
      }
      if (rest.startsWith(ESC)) {
        const sequence = escapeSequence(rest);
        if (sequence === 'partial') {
          if (!final) return keys;
          keys.push({ name: 'esc' });
          rest = rest.slice(1);
          continue;
        }
        rest = rest.slice(sequence.length);
        const name = sequence === ESC ? 'esc' : SEQUENCES[sequence.slice(1)];
        if (name !== undefined) keys.push({ name });
        continue;
      }
      const next = rest.indexOf(ESC);
      const plain = next < 0 ? rest : rest.slice(0, next);
      rest = rest.slice(plain.length);
      for (const { segment } of segmenter.segment(plain)) keys.push(...plainKeys(segment));
    }
    return keys;
  }

  return {
    push(chunk) {
      rest += chunk;
      return decode(false);
    },
    get pending() {
      return rest !== '' && paste === null;
    },
    flush: () => decode(true),
  };
}

/** The sequence at the start of the text, ESC alone when a plain key follows it, or `partial`. */
function escapeSequence(text: string): string | 'partial' {
  const second = text[1];
  if (second === undefined) return 'partial';
  if (second === 'O') return text.length < 3 ? 'partial' : text.slice(0, 3);
  if (second !== '[') return ESC;
  let index = text[2] === '[' ? 3 : 2;
  while (index < text.length) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x40 && unit <= 0x7e) return text.slice(0, index + 1);
    if (unit < 0x20 || unit > 0x3f) return ESC;
    index++;
  }
  return index > 40 ? ESC : 'partial';
}

function plainKeys(cluster: string): readonly Key[] {
  if (cluster === '\r\n') return [{ name: 'enter' }];
  if (cluster.length === 1) {
    const code = cluster.charCodeAt(0);
    const name = CONTROLS[code];
    if (name !== undefined) return [{ name }];
    if (code < 0x20) return [{ name: `ctrl-${String.fromCharCode(code + 0x60)}` }];
  }
  return [{ name: cluster, text: cluster }];
}

const CONTROLS: Readonly<Record<number, string>> = { 8: 'backspace', 9: 'tab', 13: 'enter', 127: 'backspace' };

const SEQUENCES: Readonly<Record<string, string>> = {
  '[A': 'up',
  '[B': 'down',
  '[C': 'right',
  '[D': 'left',
  OA: 'up',
  OB: 'down',
  OC: 'right',
  OD: 'left',
  '[H': 'home',
  '[F': 'end',
  OH: 'home',
  OF: 'end',
  '[1~': 'home',
  '[4~': 'end',
  '[7~': 'home',
  '[8~': 'end',
  '[3~': 'delete',
  '[5~': 'pgup',
  '[6~': 'pgdn',
  '[Z': 'shift-tab',
  OM: 'enter',
};
