import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Blob, sameEntry } from '../../domain/path-verification.ts';
import type { IndexState } from '../../domain/recovery.ts';
import type { Fs } from '../../ports/fs.ts';
import type { IndexUpdate, TargetPlace, TargetRepository, WorkTree } from '../../ports/target-repository.ts';
import { type BusyPolicy, neverAborted } from './deps.ts';
import type { JournalFiles } from './journal-text.ts';
import type { Workspace } from './workspace.ts';

export const indexFile = (worktree: WorkTree): string => path.join(worktree.gitDir, 'index');
const lockFile = (worktree: WorkTree): string => path.join(worktree.gitDir, 'index.lock');

/** Step 1: our complete new index appears as git's lock, in one call. False when somebody else kept it all the time. */
export async function takeIndexLock(fs: Fs, worktree: WorkTree, newIndex: string, busy: BusyPolicy): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await fs.link(newIndex, lockFile(worktree));
      return true;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
      if (attempt >= busy.attempts) return false;
      await delay(busy.delayMs);
    }
  }
}

/** Removes the lock if and only if its bytes are the journal's new index. */
export async function dropIndexLock(fs: Fs, worktree: WorkTree, newIndexDigest: string): Promise<void> {
  if ((await fs.sha256(lockFile(worktree))) === newIndexDigest) await fs.unlink(lockFile(worktree));
}

/**
 * Step 7: the lock becomes the index. When it is not ours any more, or the index is no longer the old one, the touched
 * entries are merged into whatever index there is. False: somebody holds the lock, and it must be tried again later.
 */
export async function finishIndex(
  deps: { readonly fs: Fs; readonly target: TargetRepository; readonly busy: BusyPolicy },
  place: TargetPlace,
  worktree: WorkTree,
  workspace: Workspace,
  files: JournalFiles,
): Promise<boolean> {
  const { fs, busy } = deps;
  for (let attempt = 1; attempt <= busy.attempts; attempt += 1) {
    const [lock, index] = await Promise.all([fs.sha256(lockFile(worktree)), fs.sha256(indexFile(worktree))]);
    if (lock === files.newIndex) {
      if (index === files.oldIndex) {
        await fs.rename(lockFile(worktree), indexFile(worktree));
        await fs.syncDirectory(worktree.gitDir);
        return true;
      }
      await fs.unlink(lockFile(worktree));
    }
    if (index === files.newIndex) return true;
    if (await mergeIndex(deps, place, worktree, workspace, files)) return true;
  }
  return false;
}

/** Entries that are still the base's become the result's; what the user put there himself stays. */
async function mergeIndex(
  deps: { readonly fs: Fs; readonly target: TargetRepository; readonly busy: BusyPolicy },
  place: TargetPlace,
  worktree: WorkTree,
  workspace: Workspace,
  files: JournalFiles,
): Promise<boolean> {
  const { fs, target, busy } = deps;
  const seen = await fs.sha256(indexFile(worktree));
  const entries = await currentEntries(target, place, files);
  const updates: IndexUpdate[] = files.paths
    .filter((row) => sameEntry(entries.get(row.path) ?? null, row.base) && !sameEntry(row.base, row.result))
    .map((row) => ({ path: row.path, entry: row.result }));
  if (updates.length === 0) return true;
  await target.buildIndex(place, updates, workspace.index, neverAborted());
  if (!(await takeIndexLock(fs, worktree, workspace.index, busy))) return false;
  if ((await fs.sha256(indexFile(worktree))) !== seen) {
    await fs.unlink(lockFile(worktree));
    return false;
  }
  await fs.rename(lockFile(worktree), indexFile(worktree));
  await fs.syncDirectory(worktree.gitDir);
  return true;
}

/**
 * Where the index stands. Git rewrites the file whenever it refreshes stat data, so that a digest that is neither says
 * nothing yet: then the touched entries decide.
 */
export async function indexState(
  deps: { readonly fs: Fs; readonly target: TargetRepository },
  place: TargetPlace,
  worktree: WorkTree,
  files: JournalFiles,
): Promise<IndexState> {
  const digest = await deps.fs.sha256(indexFile(worktree));
  if (digest === files.newIndex) return 'new';
  if (digest === files.oldIndex) return 'old';
  const entries = await currentEntries(deps.target, place, files);
  const all = (wanted: (row: JournalFiles['paths'][number]) => Blob | null) =>
    files.paths.every((row) => sameEntry(entries.get(row.path) ?? null, wanted(row)));
  if (all((row) => row.result)) return 'new';
  return all((row) => row.base) ? 'old' : 'other';
}

function currentEntries(target: TargetRepository, place: TargetPlace, files: JournalFiles) {
  return target.indexEntries(
    place,
    files.paths.map((row) => row.path),
    neverAborted(),
  );
}
