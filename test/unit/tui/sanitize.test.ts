import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sanitizeLine, sanitizeLogLine, sanitizeText } from '../../../src/tui/text/sanitize.ts';

const ESC = '\u001b';

/** What no output may hold: controls but LF, C1, DEL, bidi and invisible formats, lone surrogates. */
const FORBIDDEN =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}\ud800-\udfff]/u;

describe('sanitizeText', () => {
  it.each([
    ['OSC 8 link', `${ESC}]8;;http://evil${ESC}\\safe${ESC}]8;;${ESC}\\`, '␛]8;;http://evil␛\\safe␛]8;;␛\\'],
    ['OSC 52 clipboard, ended by BEL', `${ESC}]52;c;cm0gLXJm\u0007`, '␛]52;c;cm0gLXJm␇'],
    ['OSC that never ends', `${ESC}]0;title`, '␛]0;title'],
    ['CSI', `a${ESC}[2Jb`, 'a␛[2Jb'],
    ['CSI in C1', 'a\u009b2Jb', 'a<U+009B>2Jb'],
    ['OSC in C1', '\u009d0;t\u009c', '<U+009D>0;t<U+009C>'],
    ['carriage return that hides', 'rm -rf /\rls     ', 'rm -rf /␍ls     '],
    ['backspaces that hide', 'rm\b\bls', 'rm␈␈ls'],
    ['NUL, BEL, DEL', 'a\0b\u0007c\u007f', 'a␀b␇c␡'],
    ['right-to-left override', 'user\u202e\u2066nimda', 'user<U+202E><U+2066>nimda'],
    ['invisible characters', 'ad\u200bmin\ufeff', 'ad<U+200B>min<U+FEFF>'],
    ['tag characters', 'a\u{e0041}', 'a<U+E0041>'],
    ['line separator', 'a\u2028b', 'a<U+2028>b'],
    ['lone surrogates', 'a\ud800b\udc00', 'a\ufffdb\ufffd'],
    ['tabs go to the next stop', '\ta\tab\tabcd\te', '    a   ab  abcd    e'],
    ['line feeds stay', 'a\nb\n', 'a\nb\n'],
    ['a pair of surrogates stays', 'ok 👍', 'ok 👍'],
    ['letters of all scripts stay', 'naïve 日本語 עברית', 'naïve 日本語 עברית'],
  ])('%s', (_name, input, expected) => {
    expect(sanitizeText(input)).toBe(expected);
  });

  it('lets nothing through that a terminal could obey, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.integer({ min: 0, max: 0xffff })), (text, units) => {
        const hostile = `${text}${ESC}${String.fromCharCode(...units)}`;
        expect(sanitizeText(hostile)).not.toMatch(FORBIDDEN);
        expect(sanitizeLine(hostile)).not.toMatch(/\n/);
        expect(sanitizeLogLine(hostile)).not.toMatch(FORBIDDEN);
      }),
    );
  });

  it('says the same when it is done twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(sanitizeText(sanitizeText(text))).toBe(sanitizeText(text));
      }),
    );
  });
});

describe('sanitizeLine', () => {
  it('keeps a title on one line', () => {
    expect(sanitizeLine('one\ntwo\r\n')).toBe('one␊two␍␊');
  });
});

describe('sanitizeLogLine', () => {
  it('drops colours, and shows the last state of a progress bar with a mark that there were others', () => {
    expect(sanitizeLogLine(`${ESC}[1;32mok${ESC}[0m 3 passed\r`)).toBe('ok 3 passed');
    expect(sanitizeLogLine('10%\r50%\r100%')).toBe('␍100%');
  });

  it('still shows every other sequence', () => {
    expect(sanitizeLogLine(`${ESC}[31m${ESC}[2J${ESC}[Hx`)).toBe('␛[2J␛[Hx');
  });
});

describe('time grows with the length only', () => {
  const makers: readonly [string, (n: number) => string][] = [
    ['escape bytes', (n) => ESC.repeat(n)],
    ['unended colour sequences', (n) => `${ESC}[1`.repeat(n)],
    ['one endless colour sequence', (n) => `${ESC}[${'1;'.repeat(n)}`],
    ['unended OSC', (n) => `${ESC}]`.repeat(n)],
    ['carriage returns', (n) => '\r'.repeat(n)],
    ['tabs', (n) => '\t'.repeat(n)],
    ['bidi controls', (n) => '\u202e'.repeat(n)],
    ['lone surrogates', (n) => '\ud800'.repeat(n)],
  ];
  it.each(makers)('%s', (_name, make) => {
    const small = 8_000;
    const factor = 50;
    const ratio = cpuMs(make(small * factor), 3) / cpuMs(make(small), 60);
    // Linear is about 50 (more with the collector's work), quadratic would be 2,500.
    expect(ratio).toBeLessThan(factor * 8);
  });
});

/** Mean processor time of one round in ms: unlike wall time it doesn't grow when the machine is shared. */
function cpuMs(text: string, rounds: number): number {
  for (let round = 0; round < 3; round++) sanitizeText(text.slice(0, 20_000));
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round++) {
    sanitizeText(text);
    sanitizeLogLine(text);
  }
  const { user, system } = process.cpuUsage(before);
  return Math.max(0.01, (user + system) / 1000 / rounds);
}
