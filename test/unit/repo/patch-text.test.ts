import { describe, expect, it } from 'vitest';
import { scanPatchText } from '../../../src/engine/repo/patch-text.ts';

const scan = (...lines: string[]) => scanPatchText(Buffer.from(lines.map((line) => `${line}\n`).join('')));
const HEADER = ['diff --git a/f b/f', '--- a/f', '+++ b/f'];

describe('what git does not say about the text of a patch', () => {
  it('finds nothing in an ordinary one', () => {
    expect(scan(...HEADER, '@@ -1,2 +1,2 @@', ' a', '-b', '+B')).toEqual({
      badName: null,
      linesBeyondCounts: false,
      endsInsideHunk: false,
      hasUnanchoredHunk: false,
      mayBeBinary: false,
    });
  });

  it.each([
    ['no prefix', ['--- f', '+++ f', '@@ -1 +1 @@', '-a', '+b'], 'patch_prefix_missing'],
    ['a directory for a prefix', ['--- src/f', '+++ src/f', '@@ -1 +1 @@', '-a', '+b'], 'patch_prefix_missing'],
    ['an absolute name', ['--- a/f', '+++ /etc/f', '@@ -1 +1 @@', '-a', '+b'], 'path_absolute'],
    ['a quoted absolute name', ['--- "a/f"', '+++ "/etc/f"', '@@ -1 +1 @@', '-a', '+b'], 'path_absolute'],
    ['only a git line', ['diff --git src/f src/f', 'old mode 100644', 'new mode 100755'], 'patch_prefix_missing'],
    ['two directories, as GNU diff prints', ['--- x-1/f', '+++ x-2/f', '@@ -1 +1 @@', '-a', '+b'], undefined],
    ['a rename without prefixes, as git prints', ['diff --git a/f b/g', 'rename from f', 'rename to g'], undefined],
    ['names in content', [...HEADER, '@@ -1,2 +1,2 @@', ' x', '--- f', '+++ f'], undefined],
  ])('judges %s', (_, lines, reason) => {
    expect(scan(...lines).badName?.reason).toBe(reason);
  });

  it.each([
    ['an added line', ['+more'], true],
    ['a line after an empty one', ['', ' more'], true],
    ['a line behind something like a signature', ['-- ', '+more'], true],
    ['a mail signature', ['-- ', '2.39.5', ''], false],
    ['a fence', ['```', '- a list'], false],
    ['the next traditional header', ['--- a/g', '+++ b/g', '@@ -1 +1 @@', '-a', '+b'], false],
    ['a marker of a missing line end', ['\\ No newline at end of file'], false],
  ])('sees lines beyond the counts: %s', (_, tail, beyond) => {
    expect(scan(...HEADER, '@@ -1,2 +1,2 @@', ' a', '-b', '+B', ...tail).linesBeyondCounts).toBe(beyond);
  });

  it('sees a hunk that ends early only where the input ends', () => {
    expect(scan(...HEADER, '@@ -1,3 +1,3 @@', ' a', '-b', '+B').endsInsideHunk).toBe(true);
    expect(scan(...HEADER, '@@ -1,3 +1,3 @@', ' a', '-b', '+B', 'diff --git a/g b/g').endsInsideHunk).toBe(false);
  });

  it('sees a hunk that only a line number anchors', () => {
    expect(scan(...HEADER, '@@ -4,0 +5 @@', '+x').hasUnanchoredHunk).toBe(true);
    expect(scan(...HEADER, '@@ -0,0 +1 @@', '+x').hasUnanchoredHunk).toBe(false);
  });

  it('takes time that grows with the length only', () => {
    const started = performance.now();
    scanPatchText(Buffer.from(`${HEADER.join('\n')}\n@@ -1 +1 @@\n-a\n+b\n${'\n'.repeat(300_000)}`.repeat(2)));
    scanPatchText(Buffer.from('--- a/f\n+++ b/f\n'.repeat(100_000)));
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
