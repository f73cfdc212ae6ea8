import type { DiffFile } from '../../src/engine/api.ts';

/** A diff as people read it; for display only, never to be applied. */
export function diffText(files: readonly DiffFile[]): string {
  return files
    .flatMap((file) => [
      ...fileHeading(file),
      ...file.hunks.flatMap(hunkLines),
      ...(file.truncated ? ['(more lines are left out)'] : []),
    ])
    .join('\n');
}

/** `M  src/a.ts  +3 −1` per file. */
export function statLines(files: readonly DiffFile[]): readonly string[] {
  return files.map((file) => {
    const from = file.renamedFrom === null ? '' : ` (from ${file.renamedFrom})`;
    const size = file.binary ? 'binary' : `+${file.additions} -${file.deletions}`;
    return `${(file.status[0] ?? '').toUpperCase()}  ${file.path}${from}  ${size}`;
  });
}

function fileHeading(file: DiffFile): readonly string[] {
  const name = file.renamedFrom === null ? file.path : `${file.renamedFrom} → ${file.path}`;
  const mode =
    file.oldMode !== null && file.newMode !== null && file.oldMode !== file.newMode
      ? ` (mode ${file.oldMode} → ${file.newMode})`
      : '';
  return [`── ${file.status} ${name}${mode}`, ...(file.binary ? ['(binary)'] : [])];
}

const SIGN = { context: ' ', added: '+', removed: '-', note: '\\ ' } as const;

function hunkLines(hunk: DiffFile['hunks'][number]): readonly string[] {
  const heading = `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`;
  return [heading, ...hunk.lines.map((line) => `${SIGN[line.kind]}${line.text}`)];
}
