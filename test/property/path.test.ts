import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldKey } from '../../src/engine/domain/case-fold.ts';
import { isInside, normalizePath, parentDirectories, pathFromBytes } from '../../src/engine/domain/path.ts';

/** Text that likes to be almost a bad path. */
const nasty = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '/',
        '.',
        '..',
        '\\',
        '.git',
        'GIT~1',
        '.roundtable',
        ' ',
        ':',
        'c:',
        '\u0000',
        '\u200c',
        '\ufeff',
      ),
      fc.constantFrom('a', 'É', 'e\u0301', '\u0958', '\ud800', '\u202e', '\u212a', 'src', '~', '*'),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));
const kind = fc.constantFrom('file' as const, 'directory' as const);

function normalize(of: 'file' | 'directory', text: string) {
  return of === 'file' ? normalizePath('file', text) : normalizePath('directory', text);
}

describe('the path function', () => {
  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(kind, nasty, (of, text) => {
        const once = normalize(of, text);
        if (once.ok) expect(normalize(of, once.value)).toEqual(once);
      }),
      { numRuns: 5000 },
    );
  });

  it('accepts nothing that leads out of a directory or into .git', () => {
    fc.assert(
      fc.property(kind, nasty, (of, text) => {
        const normal = normalize(of, text);
        if (!normal.ok) return;
        const root = '/r/o/o/t';
        const joined = path.posix.join(root, normal.value);
        expect(joined).toBe(`${root}/${normal.value}`);
        expect(path.win32.isAbsolute(normal.value)).toBe(false);
        const parts = normal.value.toLowerCase().split('/');
        expect(parts).not.toContain('.git');
        expect(parts[0]).not.toBe('.roundtable');
        expect(normal.value.endsWith('/')).toBe(of === 'directory');
        expect(Buffer.byteLength(normal.value)).toBeLessThanOrEqual(4097);
      }),
      { numRuns: 5000 },
    );
  });

  it('answers the same for the text and for its bytes', () => {
    fc.assert(
      fc.property(nasty, (text) => {
        if (/\p{Surrogate}/u.test(text)) return;
        expect(pathFromBytes('file', Buffer.from(text))).toEqual(normalizePath('file', text));
      }),
      { numRuns: 2000 },
    );
  });

  it('takes bytes for text only when they are the UTF-8 of that text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
        const answer = pathFromBytes('file', bytes);
        if (answer.ok) expect(answer.value).toBe(Buffer.from(bytes).toString('utf8').normalize('NFC'));
      }),
      { numRuns: 2000 },
    );
  });

  it('puts a path inside each directory above it and in no other', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', 'a b', 'ab'), { minLength: 1, maxLength: 6 }), (parts) => {
        const file = normalizePath('file', parts.join('/'));
        if (!file.ok) throw new Error(file.error.reason);
        const above = parentDirectories(file.value);
        expect(above).toHaveLength(parts.length - 1);
        for (const directory of above) {
          expect(isInside(directory, file.value)).toBe(true);
          expect(isInside(directory, directory)).toBe(false);
        }
        const beside = normalizePath('directory', `${parts.join('/')}x`);
        expect(beside.ok && isInside(beside.value, file.value)).toBe(false);
      }),
    );
  });
});

describe('the fold key', () => {
  it('is the same for every case and normalisation of a name, and its own key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 8 }), (text) => {
        const key = foldKey(text);
        expect(foldKey(text.normalize('NFD'))).toBe(key);
        expect(foldKey(key)).toBe(key);
        if (/^[\u0000-\u007f]*$/.test(text)) {
          expect(foldKey(text.toUpperCase())).toBe(key);
          expect(foldKey(text.toLowerCase())).toBe(key);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
