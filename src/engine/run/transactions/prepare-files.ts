import path from 'node:path';
import { type ChangeOrder, directoriesAbove, orderOfChange } from '../../domain/change-order.ts';
import type { ObjectId } from '../../domain/ids.ts';
import type { Blob } from '../../domain/path-verification.ts';
import { ABSENT } from '../../domain/recovery.ts';
import { ok, type Result } from '../../domain/result.ts';
import type { TreeChange } from '../../ports/private-repository.ts';
import type { TargetPlace, WorkTree } from '../../ports/target-repository.ts';
import { concurrently, FILE_CONCURRENCY } from './concurrently.ts';
import type { TransactionDeps } from './deps.ts';
import type { JournalFiles, JournalPath } from './journal-text.ts';
import { observe } from './observe.ts';
import { refuse, type TransactionRefusal } from './refusal.ts';
import { verifyPaths } from './verify.ts';
import type { Workspace } from './workspace.ts';

export type PreparedFiles = Omit<JournalFiles, 'oldIndex' | 'newIndex' | 'stageIn'>;

/**
 * Everything about files that can be known before anything is visible: what stands there (and that git calls it unmodified),
 * what will stand there (staged, bytes as a checkout makes them), which directories come and go.
 */
export async function prepareFiles(
  deps: TransactionDeps,
  place: TargetPlace,
  worktree: WorkTree,
  workspace: Workspace,
  change: { readonly newTree: ObjectId; readonly changes: readonly TreeChange[] },
  signal: AbortSignal,
): Promise<Result<PreparedFiles, TransactionRefusal>> {
  const wanted = change.changes.map((row) => ({
    path: row.path,
    base: blobOf(row.oldMode, row.oldId),
    result: blobOf(row.newMode, row.newId),
  }));
  const order = orderOf(wanted);
  const removed = removedFiles(wanted);

  const before = await concurrently(wanted, FILE_CONCURRENCY, async (row) =>
    row.base === null ? ABSENT : observe(deps.fs, worktree.root, row.path, order.exact.has(row.path)),
  );
  const expected = wanted.map((row, position) => ({ ...row, before: before[position] ?? ABSENT }));
  const verified = await verifyPaths(deps, place, worktree, expected, order, removed, signal);
  if (!verified.ok) return verified;
  const gone = expected.filter((row) => row.base !== null && row.before.kind !== 'file').map((row) => row.path);
  if (gone.length > 0) return refuse('worktree_dirty', 'touched files are not there or no regular files', gone);

  const spec = {
    tree: change.newTree,
    paths: wanted.map((row) => row.path),
    dir: workspace.staged,
    scratchIndex: workspace.scratchIndex,
  };
  const filtered = (await deps.target.filters(place, spec, signal)).filter((row) => row.filter !== 'lfs');
  if (filtered.length > 0) {
    const names = [...new Set(filtered.map((row) => row.filter))].join(', ');
    return refuse(
      'filter_unsupported',
      `a filter is set on touched paths: ${names}`,
      filtered.map((row) => row.path),
    );
  }
  const existing = wanted.filter((row) => row.base !== null).map((row) => ({ path: row.path, entry: row.base }));
  const dirty = await deps.target.modified(place, existing, `${workspace.scratchIndex}-base`, signal);
  if (dirty.length > 0) return refuse('worktree_dirty', 'there are uncommitted edits in touched paths', dirty);

  const written = wanted.filter((row) => row.result !== null).map((row) => row.path);
  const staged = await deps.target.stage(place, { ...spec, paths: written }, signal);
  if (!staged.ok) return refuse(staged.error.code, staged.error.message);
  const after = await concurrently(wanted, FILE_CONCURRENCY, async (row) =>
    row.result === null ? ABSENT : observe(deps.fs, workspace.staged, row.path, false),
  );
  const paths: JournalPath[] = [];
  for (const [position, row] of expected.entries()) {
    const state = after[position] ?? ABSENT;
    const previous = row.before;
    if (state.kind !== (row.result === null ? 'absent' : 'file'))
      return refuse('checkout_failed', 'git did not write a file of the result', [row.path]);
    if ((state.kind !== 'file' && state.kind !== 'absent') || (previous.kind !== 'file' && previous.kind !== 'absent'))
      throw new Error(`${row.path} was verified to be a file or absent`);
    paths.push({ path: row.path, base: row.base, result: row.result, before: previous, after: state });
  }
  const directories = await directoriesOf(deps, worktree, wanted, order);
  if (!directories.ok) return directories;
  return ok({ worktree: worktree.name, trustExecutable: worktree.trustExecutable, paths, ...directories.value });
}

export function orderOf(
  paths: readonly { readonly path: string; readonly base: Blob | null; readonly result: Blob | null }[],
) {
  return orderOfChange(paths.map((row) => ({ path: row.path, before: row.base !== null, after: row.result !== null })));
}

export function removedFiles(
  paths: readonly { readonly path: string; readonly result: Blob | null }[],
): ReadonlySet<string> {
  return new Set(paths.filter((row) => row.result === null).map((row) => row.path));
}

function blobOf(mode: string | null, id: string | null): Blob | null {
  return mode === null || id === null ? null : { mode, id };
}

async function directoriesOf(
  deps: TransactionDeps,
  worktree: WorkTree,
  wanted: readonly { readonly path: string; readonly base: Blob | null; readonly result: Blob | null }[],
  order: ChangeOrder,
): Promise<Result<Pick<PreparedFiles, 'createdDirectories' | 'replacedDirectories'>, TransactionRefusal>> {
  const root = await deps.fs.lstat(worktree.root);
  const added = wanted.filter((row) => row.base === null);
  const needed = new Set(added.flatMap((row) => directoriesAbove(row.path)));
  const created: string[] = [];
  const replaced: { path: string; mode: number }[] = [];
  const foreign: string[] = [];
  for (const directory of new Set(wanted.flatMap((row) => directoriesAbove(row.path)))) {
    const entry = await deps.fs.lstat(path.join(worktree.root, directory));
    if (entry?.kind === 'directory') {
      if (entry.device !== root?.device) foreign.push(directory);
    } else if (needed.has(directory)) created.push(directory);
  }
  if (foreign.length > 0) return refuse('other_filesystem', 'directories are mounted from elsewhere', foreign);
  for (const directory of order.replacedDirectories) {
    const entry = await deps.fs.lstat(path.join(worktree.root, directory));
    if (entry !== null) replaced.push({ path: directory, mode: entry.mode });
  }
  return ok({ createdDirectories: created.sort(), replacedDirectories: replaced });
}
