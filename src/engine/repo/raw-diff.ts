import type { ObjectId } from '../domain/ids.ts';
import { strictUtf8 } from '../domain/path.ts';
import type { GitMode } from '../ports/private-repository.ts';

/** One row of `git diff-tree -r --raw -z --no-abbrev`. `path` is null when the name is not UTF-8. */
export interface RawRow {
  readonly path: string | null;
  readonly pathBytes: Buffer;
  /** Source of a rename or copy, null otherwise. */
  readonly from: string | null;
  /** `A`, `M`, `D`, `T`, or `R` and `C` with a score. */
  readonly status: string;
  readonly oldMode: GitMode | null;
  readonly newMode: GitMode | null;
  readonly oldId: ObjectId | null;
  readonly newId: ObjectId | null;
}

/** Reads raw diff rows (`:100644 100644 <id> <id> M NUL path NUL` …) up to the first record that is none. */
export function parseRawDiff(output: Buffer): { readonly rows: RawRow[]; readonly rest: Buffer } {
  const rows: RawRow[] = [];
  let position = 0;
  while (output[position] === COLON) {
    const headEnd = endOfField(output, position);
    const [oldMode, newMode, oldId, newId, status] = output.toString('latin1', position + 1, headEnd).split(' ');
    const paired = /^[RC]/.test(status ?? '');
    const fromEnd = paired ? endOfField(output, headEnd + 1) : headEnd;
    const pathEnd = endOfField(output, fromEnd + 1);
    const pathBytes = output.subarray(fromEnd + 1, pathEnd);
    rows.push({
      path: strictUtf8(pathBytes),
      pathBytes,
      from: paired ? output.toString('utf8', headEnd + 1, fromEnd) : null,
      status: status ?? '',
      oldMode: modeOf(oldMode),
      newMode: modeOf(newMode),
      oldId: idOf(oldId),
      newId: idOf(newId),
    });
    position = pathEnd + 1;
  }
  return { rows, rest: output.subarray(position) };
}

const COLON = ':'.charCodeAt(0);

function endOfField(output: Buffer, from: number): number {
  const end = output.indexOf(0, from);
  if (end < 0) throw new Error('a raw diff record ends too early');
  return end;
}

function modeOf(text: string | undefined): GitMode | null {
  if (text === undefined || text === '000000') return null;
  return canonicalMode(text);
}

/** Old trees hold modes such as 100664; what git checks out for them is decided by the owner's execute bit. */
export function canonicalMode(text: string): GitMode {
  const mode = Number.parseInt(text, 8);
  if ((mode & 0o170000) === 0o040000) return '040000';
  if ((mode & 0o170000) === 0o120000) return '120000';
  if ((mode & 0o170000) === 0o160000) return '160000';
  return (mode & 0o100) === 0 ? '100644' : '100755';
}

function idOf(text: string | undefined): ObjectId | null {
  return text === undefined || /^0+$/.test(text) ? null : (text as ObjectId);
}
