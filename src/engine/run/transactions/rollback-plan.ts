import path from 'node:path';
import type { ObjectId } from '../../domain/ids.ts';
import { type Blob, sameEntry } from '../../domain/path-verification.ts';
import { err, ok, type Result } from '../../domain/result.ts';
import type { Fs } from '../../ports/fs.ts';
import type { IndexUpdate, TargetPlace, TargetRepository } from '../../ports/target-repository.ts';
import type { Journal } from './journal-text.ts';
import { refusal, refuse, type TransactionRefusal } from './refusal.ts';

export interface RollbackTree {
  readonly tree: ObjectId;
  /** Objects that were written for it. */
  readonly written: readonly ObjectId[];
}

/**
 * The tip's tree with the transaction's change taken out: paths that were not touched since go back as a whole, later edits of
 * the same file are merged where that is clean. Otherwise every path that can't be undone is listed.
 */
export async function planRollback(
  deps: { readonly target: TargetRepository; readonly fs: Fs },
  place: TargetPlace,
  reverted: Pick<Journal, 'oldTree' | 'newTree'>,
  tip: ObjectId,
  scratchDir: string,
  signal: AbortSignal,
): Promise<Result<RollbackTree, TransactionRefusal>> {
  const { target, fs } = deps;
  const changes = await target.diff(place, reverted.oldTree, reverted.newTree, signal);
  const names = changes.map((row) => row.path);
  const current = await target.entriesOf(place, tip, names, signal);
  const updates: IndexUpdate[] = [];
  const written: ObjectId[] = [];
  const conflicts: string[] = [];

  await fs.removeTree(scratchDir);
  await fs.mkdir(scratchDir, 0o700);
  try {
    for (const row of changes) {
      const before = blobOf(row.oldMode, row.oldId);
      const after = blobOf(row.newMode, row.newId);
      const now = current.get(row.path) ?? null;
      if (sameEntry(now, before)) continue;
      if (sameEntry(now, after)) updates.push({ path: row.path, entry: before });
      else {
        const merged = await mergeEntry(target, place, { before, after, now }, scratchDir, signal);
        if (merged === null) conflicts.push(row.path);
        else {
          written.push(merged.id as ObjectId);
          updates.push({ path: row.path, entry: merged });
        }
      }
    }
    if (conflicts.length > 0)
      return err(refusal('rollback_conflict', 'later edits of the same places would be lost', conflicts));
    if (updates.length === 0) return refuse('nothing_to_do', 'the target no longer has anything of this change', names);
    const tree = await target.writeTree(place, tip, updates, path.join(scratchDir, 'index'), signal);
    const misfits = tree === null ? names : await unintended(target, place, tip, tree, updates, signal);
    if (tree === null || misfits.length > 0)
      return refuse('rollback_conflict', 'files and directories that came later are in the way', misfits);
    return ok({ tree, written: [...written, ...(await treesWritten(target, place, tip, tree, signal))] });
  } finally {
    await fs.removeTree(scratchDir);
  }
}

async function mergeEntry(
  target: TargetRepository,
  place: TargetPlace,
  sides: { readonly before: Blob | null; readonly after: Blob | null; readonly now: Blob | null },
  scratchDir: string,
  signal: AbortSignal,
): Promise<Blob | null> {
  const { before, after, now } = sides;
  if (before === null || after === null || now === null) return null;
  if (![before, after, now].every((blob) => blob.mode === '100644' || blob.mode === '100755')) return null;
  // The mode is merged like the content: the side that moved away from the transaction's result wins.
  const mode = now.mode === after.mode ? before.mode : now.mode;
  const content = await mergeContent();
  return content === null ? null : { mode, id: content };

  async function mergeContent(): Promise<string | null> {
    if (before === null || after === null || now === null) return null;
    if (now.id === after.id) return before.id;
    if (before.id === after.id || before.id === now.id) return now.id;
    const ids = { base: after.id as ObjectId, ours: now.id as ObjectId, theirs: before.id as ObjectId };
    return target.mergeBlobs(place, { ...ids, scratchDir }, signal);
  }
}

/** Paths that would change without being meant to: putting a file back must not remove what lies where it was. */
async function unintended(
  target: TargetRepository,
  place: TargetPlace,
  tip: ObjectId,
  tree: ObjectId,
  updates: readonly IndexUpdate[],
  signal: AbortSignal,
): Promise<string[]> {
  const tipTree = await target.treeOf(place, tip, signal);
  if (tipTree === null) throw new Error(`commit ${tip} has no tree`);
  const wanted = new Map(updates.map((update) => [update.path, update.entry]));
  const rows = await target.diff(place, tipTree, tree, signal);
  const odd = rows.filter((row) => {
    const entry = wanted.get(row.path);
    return entry === undefined || !sameEntry(blobOf(row.newMode, row.newId), entry);
  });
  return odd.map((row) => row.path);
}

/** Git synced their bytes when it wrote them; which fan-out directories they lie in is known by their ids. */
async function treesWritten(
  target: TargetRepository,
  place: TargetPlace,
  tip: ObjectId,
  tree: ObjectId,
  signal: AbortSignal,
): Promise<ObjectId[]> {
  const tipTree = await target.treeOf(place, tip, signal);
  return tipTree === null ? [] : [tree, ...(await target.changedTrees(place, tipTree, tree, signal))];
}

function blobOf(mode: string | null, id: string | null): Blob | null {
  return mode === null || id === null ? null : { mode, id };
}
