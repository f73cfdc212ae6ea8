/**
 * Finds where a reference is checked out and whether git is in the middle of something there. Trusts git's own list of
 * work trees; does not trust that a listed work tree still exists.
 */
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { err, ok, type Result } from '../domain/result.ts';
import type { TargetFailure, TargetPlace, WorkTree } from '../ports/target-repository.ts';
import type { TargetGit } from './target-git.ts';

interface Listed {
  readonly root: string;
  readonly branch: string | null;
  readonly bare: boolean;
}

/** Directories of the repository as seen from the project's directory. */
export interface Home {
  readonly commonDir: string;
  readonly gitDir: string;
  /** Null in a bare repository. */
  readonly root: string | null;
}

export async function locateTarget(
  git: TargetGit,
  home: Home,
  ref: string,
  signal: AbortSignal,
): Promise<Result<TargetPlace, TargetFailure>> {
  const head = await symbolicHead(git, home.gitDir, signal);
  if (ref === 'HEAD') {
    if (head !== null) return failed('head_moved', `HEAD is on ${head} now, not detached as the target says`);
    if (home.root === null) return failed('target_missing', 'a bare repository has no detached HEAD to land on');
    return placeIn(git, home, ref, { gitDir: home.gitDir, root: home.root }, signal);
  }
  const exists = await git.run({ gitDir: home.gitDir, args: ['rev-parse', '--verify', '--quiet', ref], signal });
  if (exists.exitCode !== 0) return failed(head === ref ? 'target_unborn' : 'target_missing', `${ref} does not exist`);

  const holder = await operationOn(home.commonDir, ref);
  if (holder !== null) return failed('operation_in_progress', `a ${holder} of ${ref} is under way`);
  if (head === ref && home.root !== null)
    return placeIn(git, home, ref, { gitDir: home.gitDir, root: home.root }, signal);

  for (const listed of await listWorkTrees(git, home, signal)) {
    if (listed.bare || listed.branch !== ref) continue;
    const gitDir = await gitDirOf(git, listed.root, signal);
    if (gitDir === null)
      return failed('worktree_missing', `${ref} is checked out in ${listed.root}, which is not there now`);
    if (gitDir === home.gitDir) continue;
    return placeIn(git, home, ref, { gitDir, root: listed.root }, signal);
  }
  return ok({ commonDir: home.commonDir, ref, gitDir: home.commonDir, worktree: null });
}

async function placeIn(
  git: TargetGit,
  home: Home,
  ref: string,
  at: { readonly gitDir: string; readonly root: string },
  signal: AbortSignal,
): Promise<Result<TargetPlace, TargetFailure>> {
  const operation = operationIn(at.gitDir);
  if (operation !== null) return failed('operation_in_progress', `a ${operation} is under way in ${at.root}`);
  const worktree = await workTree(git, home.commonDir, at, signal);
  return ok({ commonDir: home.commonDir, ref, gitDir: at.gitDir, worktree });
}

async function workTree(
  git: TargetGit,
  commonDir: string,
  at: { readonly gitDir: string; readonly root: string },
  signal: AbortSignal,
): Promise<WorkTree> {
  const args = ['config', '-z', '--type=bool', '--get-regexp', '^core\\.(filemode|sparsecheckout)$'];
  const outcome = await git.run({ gitDir: at.gitDir, args, signal });
  // One `key LF value NUL` per setting; the last one of a key counts.
  const settings = new Map(
    outcome.stdout
      .toString('utf8')
      .split('\0')
      .map((row) => row.split('\n') as [string, string]),
  );
  const trustExecutable = settings.get('core.filemode') !== 'false';
  const sparse = settings.get('core.sparsecheckout') === 'true';
  return { ...at, name: path.relative(commonDir, at.gitDir), trustExecutable, sparse };
}

/** The place that a journal named, without judging whether it may be touched. */
export async function relocateTarget(
  git: TargetGit,
  home: Home,
  ref: string,
  name: string | null,
  signal: AbortSignal,
): Promise<TargetPlace> {
  const bare = { commonDir: home.commonDir, ref, gitDir: home.commonDir, worktree: null };
  if (name === null) return bare;
  const gitDir = path.join(home.commonDir, name);
  const place = (await allPlaces(git, home, signal)).find((candidate) => candidate.gitDir === gitDir);
  if (place === undefined || place.root === null || !existsSync(place.root))
    return { ...bare, gitDir: existsSync(gitDir) ? gitDir : home.commonDir };
  return { ...bare, gitDir, worktree: await workTree(git, home.commonDir, { gitDir, root: place.root }, signal) };
}

export async function allPlaces(
  git: TargetGit,
  home: Home,
  signal: AbortSignal,
): Promise<readonly { readonly gitDir: string; readonly root: string | null }[]> {
  const main = home.gitDir === home.commonDir ? home.root : await mainRoot(git, home, signal);
  const places: { gitDir: string; root: string | null }[] = [{ gitDir: home.commonDir, root: main }];
  const linked = path.join(home.commonDir, 'worktrees');
  for (const name of existsSync(linked) ? await fs.readdir(linked) : []) {
    const gitDir = path.join(linked, name);
    const pointer = await readText(path.join(gitDir, 'gitdir'));
    const root = pointer === null ? null : path.dirname(path.resolve(gitDir, pointer));
    places.push({ gitDir, root: root !== null && existsSync(root) ? root : null });
  }
  return places;
}

async function mainRoot(git: TargetGit, home: Home, signal: AbortSignal): Promise<string | null> {
  const [first] = await listWorkTrees(git, home, signal);
  return first === undefined || first.bare || !existsSync(path.join(first.root, '.git')) ? null : first.root;
}

async function listWorkTrees(git: TargetGit, home: Home, signal: AbortSignal): Promise<Listed[]> {
  const output = await git.must({ gitDir: home.commonDir, args: ['worktree', 'list', '--porcelain', '-z'], signal });
  return output
    .toString('utf8')
    .split('\0\0')
    .filter((record) => record !== '')
    .map((record) => {
      const lines = record.split('\0');
      const value = (key: string) => lines.find((line) => line.startsWith(`${key} `))?.slice(key.length + 1) ?? null;
      return { root: value('worktree') ?? '', branch: value('branch'), bare: lines.includes('bare') };
    });
}

async function gitDirOf(git: TargetGit, root: string, signal: AbortSignal): Promise<string | null> {
  if (!existsSync(path.join(root, '.git'))) return null;
  const pointer = path.join(root, '.git');
  if ((await fs.lstat(pointer)).isDirectory()) return fs.realpath(pointer);
  const text = await readText(pointer);
  const named = text?.startsWith('gitdir: ') ? path.resolve(root, text.slice('gitdir: '.length)) : null;
  if (named === null || !existsSync(named)) return null;
  const checked = await git.run({ gitDir: named, args: ['rev-parse', '--absolute-git-dir'], signal });
  return checked.exitCode === 0 ? fs.realpath(checked.stdout.toString('utf8').trim()) : null;
}

export async function symbolicHead(git: TargetGit, gitDir: string, signal: AbortSignal): Promise<string | null> {
  const outcome = await git.run({ gitDir, args: ['symbolic-ref', '--quiet', 'HEAD'], signal });
  return outcome.exitCode === 0 ? outcome.stdout.toString('utf8').trim() : null;
}

export async function configBool(
  git: TargetGit,
  gitDir: string,
  key: string,
  fallback: boolean,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const outcome = await git.run({ gitDir, args: ['config', '--type=bool', '--get', key], signal });
  return outcome.exitCode === 0 ? outcome.stdout.toString('utf8').trim() === 'true' : fallback;
}

const OPERATIONS: readonly (readonly [string, string])[] = [
  ['MERGE_HEAD', 'merge'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase or am'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['sequencer', 'cherry-pick or revert of several commits'],
  ['BISECT_LOG', 'bisect'],
];

function operationIn(gitDir: string): string | null {
  return OPERATIONS.find(([marker]) => existsSync(path.join(gitDir, marker)))?.[1] ?? null;
}

/** A rebase or bisect detaches HEAD, but will come back to the branch it started from. */
async function operationOn(commonDir: string, ref: string): Promise<string | null> {
  const linked = path.join(commonDir, 'worktrees');
  const names = existsSync(linked) ? await fs.readdir(linked) : [];
  for (const gitDir of [commonDir, ...names.map((name) => path.join(linked, name))]) {
    for (const file of ['rebase-merge/head-name', 'rebase-apply/head-name'])
      if ((await readText(path.join(gitDir, file))) === ref) return 'rebase';
    if (`refs/heads/${await readText(path.join(gitDir, 'BISECT_START'))}` === ref) return 'bisect';
  }
  return null;
}

async function readText(file: string): Promise<string | null> {
  return existsSync(file) ? (await fs.readFile(file, 'utf8')).trimEnd() : null;
}

function failed(code: TargetFailure['code'], message: string) {
  return err({ code, message });
}
