import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { cellWidth, fitCells, gridText, sliceCells, truncate, wrapText } from '../../../src/tui/text/measure.ts';

describe('gridText', () => {
  it.each([
    ['variation selector', '❤️', '❤'],
    ['skin tone', '👍🏽', '👍'],
    ['joined family', '👩‍👩‍👧', '👩'],
    ['keycap', '1️⃣', '1'],
    ['flag', '🇩🇪', 'DE'],
    ['decomposed letter', 'e\u0301', 'é'],
    ['stacked marks', `a${'\u0316'.repeat(40)}`, 'a\u0316\u0316'],
    ['a mark on nothing', '\u0301', '<U+0301>'],
    ['joiner inside a Latin word', 'ad\u200dmin', 'ad<U+200D>min'],
    ['Indic conjunct', 'क्ष', 'क्'],
    ['escape sequence', '\u001b[31mx', '␛[31mx'],
  ])('%s', (_name, input, expected) => {
    expect(gridText(input)).toBe(expected);
  });
});

describe('widths', () => {
  it('counts wide characters twice', () => {
    expect(cellWidth('日本')).toBe(4);
    expect(cellWidth('👍🏽')).toBe(2);
  });

  it.each([
    ['abcdef', 4, 'abc…'],
    ['abcd', 4, 'abcd'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['abc', 1, '…'],
    ['abc', 0, ''],
  ])('truncates %s to %d cells', (text, cells, expected) => {
    expect(truncate(text, cells)).toBe(expected);
  });

  it('fills to exactly the cells asked for, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 40 }), (text, cells) => {
        expect(stringWidth(fitCells(text, cells))).toBe(cells);
        expect(stringWidth(fitCells(text, cells, 'start'))).toBe(cells);
      }),
    );
  });

  it('puts numbers at the right edge', () => {
    expect(fitCells('7', 3, 'start')).toBe('  7');
  });

  it('cuts a wide character at an edge into spaces', () => {
    expect(sliceCells('日本', 1, 4)).toBe(' 本');
    expect(sliceCells('日本', 0, 3)).toBe('日 ');
    expect(sliceCells('abc', 1, 2)).toBe('b');
  });
});

describe('wrapText', () => {
  it('breaks at words, and inside a word only when it must', () => {
    expect(wrapText('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrapText('abcdefgh ij', 3)).toEqual(['abc', 'def', 'gh', 'ij']);
    expect(wrapText('日本語', 4)).toEqual(['日本', '語']);
    expect(wrapText('a\nb', 5)).toEqual(['a', 'b']);
  });

  it('says when it left lines out', () => {
    expect(wrapText('a b c d', 1, 2)).toEqual(['a', '…']);
    expect(wrapText('ab cd ef', 3, 2)).toEqual(['ab', 'cd…']);
  });

  it('never makes a line wider than asked', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 12, max: 30 }), (text, cells) => {
        for (const line of wrapText(text, cells)) expect(stringWidth(line)).toBeLessThanOrEqual(cells);
      }),
    );
  });
});
