/**
 * Indexes of the user's repository. The real one is only read here; every change goes to a private file. Does not trust
 * stat data for "is this file modified": content is read.
 */
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { ObjectId } from '../domain/ids.ts';
import type { Blob } from '../domain/path-verification.ts';
import type { IndexUpdate, TargetPlace, WorkTree } from '../ports/target-repository.ts';
import type { TargetGit } from './target-git.ts';

export async function indexEntries(
  git: TargetGit,
  worktree: WorkTree,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Blob | 'unmerged'>> {
  const wanted = new Set(paths);
  const entries = new Map<string, Blob | 'unmerged'>();
  const args = ['ls-files', '-z', '--stage'];
  const output = await git.must({ gitDir: worktree.gitDir, workTree: worktree.root, args, signal });
  for (const { path: file, mode, id, stage } of stageRows(output)) {
    if (wanted.has(file)) entries.set(file, stage === '0' ? { mode, id } : 'unmerged');
  }
  return entries;
}

function* stageRows(output: Buffer): Generator<{ path: string; mode: string; id: string; stage: string }> {
  let start = 0;
  for (let end = output.indexOf(0, start); end !== -1; end = output.indexOf(0, start)) {
    const row = output.toString('utf8', start, end);
    const tab = row.indexOf('\t');
    const [mode = '', id = '', stage = ''] = row.slice(0, tab).split(' ');
    yield { path: row.slice(tab + 1), mode, id, stage };
    start = end + 1;
  }
}

export async function buildIndex(
  git: TargetGit,
  worktree: WorkTree,
  updates: readonly IndexUpdate[],
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const real = path.join(worktree.gitDir, 'index');
  await fs.rm(file, { force: true });
  await fs.rm(`${file}.lock`, { force: true });
  if (existsSync(real)) await fs.copyFile(real, file);
  await updateIndex(git, { gitDir: worktree.gitDir, workTree: worktree.root, indexFile: file }, updates, signal);
}

/** Removals first: a file may take the place of a directory and the other way round. */
async function updateIndex(
  git: TargetGit,
  at: { readonly gitDir: string; readonly workTree?: string; readonly indexFile: string },
  updates: readonly IndexUpdate[],
  signal: AbortSignal,
): Promise<void> {
  await git.must({ ...at, args: ['update-index', '-z', '--index-info'], input: indexInfo(updates), signal });
}

function indexInfo(updates: readonly IndexUpdate[]): string {
  const zeros = '0'.repeat(updates.find((update) => update.entry !== null)?.entry?.id.length ?? 40);
  const removals = updates.filter((update) => update.entry === null).map(({ path: file }) => `0 ${zeros}\t${file}\0`);
  const additions = updates.flatMap(({ path: file, entry }) =>
    entry === null ? [] : [`${entry.mode} ${entry.id}\t${file}\0`],
  );
  return [...removals, ...additions].join('');
}

/**
 * Git's own opinion on content: an index of nothing but these entries, without stat data, so that every file is read
 * through the user's attributes and compared.
 */
export async function modifiedPaths(
  git: TargetGit,
  worktree: WorkTree,
  entries: readonly IndexUpdate[],
  scratchIndex: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (entries.length === 0) return [];
  await fs.rm(scratchIndex, { force: true });
  const at = { gitDir: worktree.gitDir, workTree: worktree.root, indexFile: scratchIndex, config: NO_SYNC };
  await updateIndex(git, at, entries, signal);
  await git.run({ ...at, args: ['update-index', '-q', '--refresh'], signal });
  const output = await git.must({ ...at, args: ['diff-files', '-z', '--name-only', '--no-ext-diff'], signal });
  await fs.rm(scratchIndex, { force: true });
  return output
    .toString('utf8')
    .split('\0')
    .filter((line) => line !== '');
}

/** Scratch files need not survive anything. */
const NO_SYNC = ['core.fsync=none'];

export async function writeTree(
  git: TargetGit,
  place: TargetPlace,
  commit: ObjectId,
  updates: readonly IndexUpdate[],
  scratchIndex: string,
  signal: AbortSignal,
): Promise<ObjectId | null> {
  await fs.rm(scratchIndex, { force: true });
  const at = { gitDir: place.gitDir, indexFile: scratchIndex };
  await git.must({ ...at, args: ['read-tree', commit], signal });
  const updated = await git.run({
    ...at,
    args: ['update-index', '-z', '--index-info'],
    input: indexInfo(updates),
    signal,
  });
  if (updated.exitCode !== 0) return null;
  const written = await git.must({ ...at, args: ['write-tree'], signal });
  await fs.rm(scratchIndex, { force: true });
  return written.toString('utf8').trim() as ObjectId;
}
