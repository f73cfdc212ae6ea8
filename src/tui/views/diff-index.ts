import type { DiffFile, DiffHunk, DiffLine } from '../../engine/api.ts';

/** What stands in one row of the continuous scroll of a diff. */
export type DiffRow =
  | { readonly kind: 'file'; readonly file: DiffFile }
  | { readonly kind: 'hunk'; readonly file: DiffFile; readonly hunk: DiffHunk; readonly number: number }
  | { readonly kind: 'line'; readonly file: DiffFile; readonly hunk: DiffHunk; readonly line: DiffLine }
  | { readonly kind: 'note'; readonly file: DiffFile; readonly text: string }
  | { readonly kind: 'gap' };

/**
 * Where each file and hunk begins in the scroll. Made once per diff; finding the row at a position is a binary search,
 * so that what a key press costs depends on the rows that are seen, not on the length of the diff.
 */
export interface DiffIndex {
  readonly total: number;
  /** First row of each file, ascending. */
  readonly files: readonly number[];
  /** First row (the header) of each hunk of all files, ascending. */
  readonly hunks: readonly number[];
  /** Digits of the largest line number. */
  readonly numberWidth: number;
  row(position: number): DiffRow | null;
  /** File and hunk (1-based, of how many in that file) at a position. */
  place(position: number): { readonly file: DiffFile; readonly hunk: number; readonly hunks: number } | null;
}

interface Block {
  readonly start: number;
  readonly file: DiffFile;
  readonly hunk: DiffHunk | null;
  readonly number: number;
}

export function diffIndex(files: readonly DiffFile[]): DiffIndex {
  const blocks: Block[] = [];
  const fileStarts: number[] = [];
  const hunkStarts: number[] = [];
  let at = 0;
  let largest = 0;
  for (const file of files) {
    fileStarts.push(at);
    blocks.push({ start: at, file, hunk: null, number: 0 });
    at += 1 + notes(file).length;
    for (const [index, hunk] of file.hunks.entries()) {
      hunkStarts.push(at);
      blocks.push({ start: at, file, hunk, number: index + 1 });
      at += 1 + hunk.lines.length;
      largest = Math.max(largest, hunk.oldStart + hunk.oldLines, hunk.newStart + hunk.newLines);
    }
    at += 1;
  }
  const total = Math.max(0, at - 1);

  function blockAt(position: number): Block | null {
    if (position < 0 || position >= total) return null;
    let low = 0;
    let high = blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((blocks[middle]?.start ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    return blocks[low] ?? null;
  }

  return {
    total,
    files: fileStarts,
    hunks: hunkStarts,
    numberWidth: Math.max(2, String(largest).length),
    row(position) {
      const block = blockAt(position);
      if (block === null) return null;
      const { file, hunk } = block;
      const offset = position - block.start;
      if (hunk === null) {
        if (offset === 0) return { kind: 'file', file };
        const text = notes(file)[offset - 1];
        return text === undefined ? { kind: 'gap' } : { kind: 'note', file, text };
      }
      if (offset === 0) return { kind: 'hunk', file, hunk, number: block.number };
      const line = hunk.lines[offset - 1];
      return line === undefined ? { kind: 'gap' } : { kind: 'line', file, hunk, line };
    },
    place(position) {
      const block = blockAt(Math.min(position, total - 1));
      return block === null ? null : { file: block.file, hunk: block.number, hunks: block.file.hunks.length };
    },
  };
}

function notes(file: DiffFile): readonly string[] {
  const out: string[] = [];
  if (file.renamedFrom !== null) out.push(`renamed from ${file.renamedFrom}`);
  if (file.oldMode !== null && file.newMode !== null && file.oldMode !== file.newMode) {
    out.push(`mode ${file.oldMode} → ${file.newMode}`);
  }
  if (file.status === 'added' && file.newMode === '100755') out.push('new executable file');
  if (file.binary) out.push('binary file, no lines to show');
  else if (file.hunks.length === 0 && file.status !== 'renamed' && out.length === 0) out.push('no lines changed');
  if (file.truncated) out.push('too long to show whole: lines are left out');
  return out;
}
