import type { ObjectId } from '../domain/ids.ts';
import { strictUtf8 } from '../domain/path.ts';
import type { GitMode } from '../ports/private-repository.ts';
import { canonicalMode } from './raw-diff.ts';

interface ListedEntry {
  readonly mode: GitMode;
  readonly id: ObjectId;
  /** Bytes of a blob when the listing has sizes (`--long`), else null. */
  readonly size: number | null;
  /** Null when the name is not UTF-8. */
  readonly path: string | null;
  readonly pathBytes: Buffer;
}

/** Bound of a listing of one tree; a million paths of 1,000 bytes fit. */
export const SINGLE_TREE_BYTES = 1024 * 1024 * 1024;

/** Reads `git ls-tree -r -z [--long]`: `<mode> <type> <id>[ <size>] TAB <path> NUL` … */
export function parseTreeListing(output: Buffer): ListedEntry[] {
  const entries: ListedEntry[] = [];
  for (let position = 0; position < output.length; ) {
    const tab = output.indexOf(9, position);
    const end = output.indexOf(0, tab);
    const [mode = '', , id = '', size] = output.toString('latin1', position, tab).split(/ +/);
    const pathBytes = output.subarray(tab + 1, end);
    entries.push({
      mode: canonicalMode(mode),
      id: id as ObjectId,
      size: size === undefined || size === '-' ? null : Number(size),
      path: strictUtf8(pathBytes),
      pathBytes,
    });
    position = end + 1;
  }
  return entries;
}
