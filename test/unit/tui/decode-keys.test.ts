import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyDecoder } from '../../../src/tui/terminal/decode-keys.ts';

function names(...chunks: readonly string[]): readonly string[] {
  const decoder = keyDecoder();
  const keys = chunks.flatMap((chunk) => decoder.push(chunk));
  return [...keys, ...decoder.flush()].map((key) => (key.name === 'paste' ? `paste:${key.text}` : key.name));
}

describe('keyDecoder', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['keys that came in one read', ['jjk'], ['j', 'j', 'k']],
    ['arrows in both modes', ['\u001b[A\u001bOB'], ['up', 'down']],
    ['a sequence in two reads', ['\u001b[', '6~'], ['pgdn']],
    ['a lone Esc', ['\u001b'], ['esc']],
    ['Esc and a key in one read are two keys', ['\u001bj'], ['esc', 'j']],
    ['Esc twice', ['\u001b\u001b'], ['esc', 'esc']],
    ['Esc before an arrow', ['\u001b\u001b[A'], ['esc', 'up']],
    ['control keys', ['\u0003\u0004\u0015\u001a\n'], ['ctrl-c', 'ctrl-d', 'ctrl-u', 'ctrl-z', 'ctrl-j']],
    ['Enter, Tab, Backspace', ['\r\t\u007f\b'], ['enter', 'tab', 'backspace', 'backspace']],
    ['Shift-Tab', ['\u001b[Z'], ['shift-tab']],
    ['a paste is text, not keys', ['\u001b[200~q\ra\u001b[201~j'], ['paste:q\ra', 'j']],
    ['a paste in pieces', ['\u001b[200~ab', 'c\u001b[20', '1~x'], ['paste:abc', 'x']],
    ['an escape inside a paste stays text', ['\u001b[200~\u001b[Aq\u001b[201~'], ['paste:\u001b[Aq']],
    ['an unknown sequence is swallowed whole', ['\u001b[1;5Pj'], ['j']],
    ['a letter with an accent is one key', ['e\u0301'], ['e\u0301']],
  ])('%s', (_name, chunks, expected) => {
    expect(names(...chunks)).toEqual(expected);
  });

  it('gives the same keys wherever the reads are cut, except inside a lone Esc', () => {
    const piece = fc.constantFrom(
      'j',
      'K',
      '\r',
      '\u001b[A',
      '\u001b[5~',
      '\u001bOB',
      '\u001b[200~x\ny\u001b[201~',
      '日',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.nat(), (pieces, seed) => {
        const text = pieces.join('');
        const cut = text.length === 0 ? 0 : seed % text.length;
        const decoder = keyDecoder();
        const split = [...decoder.push(text.slice(0, cut)), ...decoder.push(text.slice(cut)), ...decoder.flush()];
        const whole = keyDecoder();
        expect(split).toEqual([...whole.push(text), ...whole.flush()]);
      }),
    );
  });
});
