import type { ObjectId } from '../domain/ids.ts';
import type { GitMode } from '../ports/private-repository.ts';
import type { GitRunner } from './git-runner.ts';
import type { Quarantine } from './quarantine.ts';

/** One path of the result; nulls delete it. */
export type IndexChange =
  | { readonly path: string; readonly mode: GitMode; readonly id: ObjectId }
  | { readonly path: string; readonly mode: null; readonly id: null };

/** Writes `tree` with the changes made to it; null when an entry would be both a file and a directory. */
export async function treeWith(
  runner: GitRunner,
  quarantine: Quarantine,
  indexFile: string,
  tree: ObjectId,
  changes: readonly IndexChange[],
  signal: AbortSignal,
): Promise<ObjectId | null> {
  const place = quarantine.withIndex(indexFile);
  await runner.must({ ...place, args: ['read-tree', tree], signal });
  // Deletions first: what they free may be taken by an addition.
  const deleted = changes.filter(({ mode }) => mode === null);
  const set = changes.filter(({ mode }) => mode !== null);
  const none = '0'.repeat(tree.length);
  const records = [...deleted, ...set].map(({ path, mode, id }) => `${mode ?? '0'} ${id ?? none}\t${path}\0`);
  const input = Buffer.from(records.join(''));
  const updated = await runner.run({ ...place, args: ['update-index', '-z', '--index-info'], input, signal });
  if (updated.exitCode !== 0) return null;
  const written = await runner.must({ ...place, args: ['write-tree', '--missing-ok'], signal });
  return written.toString('latin1').trim() as ObjectId;
}
