/** The user's repository, put together from its parts. What each trusts stands at the head of its file. */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { ObjectId } from '../domain/ids.ts';
import type { Blob } from '../domain/path-verification.ts';
import { err } from '../domain/result.ts';
import type { TreeChange } from '../ports/private-repository.ts';
import { TargetGitError, type TargetPlace, type TargetRepository, type WorkTree } from '../ports/target-repository.ts';
import { parseRawDiff } from './raw-diff.ts';
import { TargetGit } from './target-git.ts';
import { buildIndex, indexEntries, modifiedPaths, writeTree } from './target-index.ts';
import { mergeBlobs } from './target-merge.ts';
import { createCommit, importObjects, objectDirectories, refDirectories } from './target-objects.ts';
import { allPlaces, type Home, locateTarget, relocateTarget, symbolicHead } from './target-place.ts';
import { lockRef } from './target-ref-lock.ts';
import { filterAttributes, stagePaths } from './target-staging.ts';

/** `directory`: the project, that is any directory of a work tree or a bare repository. Throws when it is no repository. */
export async function openTargetRepository(options: {
  readonly git: string;
  readonly directory: string;
  readonly processIdentity: (pid: number) => Promise<string>;
}): Promise<TargetRepository> {
  const git = new TargetGit(options.git);
  const home = await findHome(git, options.directory);
  return {
    locate: (ref, signal) => locateTarget(git, home, ref, signal),
    relocate: (ref, name, signal) => relocateTarget(git, home, ref, name, signal),
    places: (signal) => allPlaces(git, home, signal),

    async resolve(place, ref, signal) {
      const outcome = await git.run({ gitDir: place.gitDir, args: ['rev-parse', '--verify', '--quiet', ref], signal });
      return outcome.exitCode === 0 ? (outcome.stdout.toString('utf8').trim() as ObjectId) : null;
    },
    headTarget: (place, signal) => symbolicHead(git, place.gitDir, signal),
    async reachable(place, commit, ref, signal) {
      const args = ['merge-base', '--is-ancestor', commit, ref];
      const outcome = await git.run({ gitDir: place.gitDir, args, signal });
      // Any other code than 0 and 1 is a failure of git, from which nothing may be concluded.
      if (outcome.exitCode > 1) throw new TargetGitError(args, outcome.stderr, false);
      return outcome.exitCode === 0;
    },
    async treeOf(place, commit, signal) {
      const args = ['rev-parse', '--verify', '--quiet', `${commit}^{tree}`];
      const outcome = await git.run({ gitDir: place.gitDir, args, signal });
      return outcome.exitCode === 0 ? (outcome.stdout.toString('utf8').trim() as ObjectId) : null;
    },
    diff: (place, oldTree, newTree, signal) => treeDiff(git, place, oldTree, newTree, signal),
    async changedTrees(place, oldTree, newTree, signal) {
      const args = ['diff-tree', '-r', '-t', '--raw', '-z', '--no-renames', '--no-abbrev', oldTree, newTree];
      const { rows } = parseRawDiff(await git.must({ gitDir: place.gitDir, args, signal }));
      return rows.flatMap((row) => (row.newMode === '040000' && row.newId !== null ? [row.newId] : []));
    },
    entriesOf: (place, commit, paths, signal) => entriesOf(git, place, commit, paths, signal),
    indexEntries: (place, paths, signal) => indexEntries(git, checkedOut(place), paths, signal),
    modified: (place, entries, scratch, signal) => modifiedPaths(git, checkedOut(place), entries, scratch, signal),
    filters: (place, spec, signal) => filterAttributes(git, checkedOut(place), spec, signal),
    objectDirectories,
    refDirectories,
    refLockFiles: ({ ref, commonDir, gitDir }) =>
      ref === 'HEAD'
        ? { ref: path.join(gitDir, 'HEAD.lock'), head: null }
        : { ref: path.join(commonDir, `${ref}.lock`), head: path.join(gitDir, 'HEAD.lock') },

    importObjects: (place, spec, signal) => importObjects(git, place, spec, signal),
    createCommit: (place, spec, signal) => createCommit(git, place, spec, signal),
    buildIndex: (place, updates, file, signal) => buildIndex(git, checkedOut(place), updates, file, signal),
    stage: (place, spec, signal) => stagePaths(git, checkedOut(place), spec, signal),
    writeTree: (place, commit, updates, scratch, signal) => writeTree(git, place, commit, updates, scratch, signal),
    mergeBlobs: (place, spec, signal) => mergeBlobs(git, place, spec, signal),
    async lockRef(place, spec, signal) {
      if (signal.aborted) return err({ code: 'cancelled', message: 'cancelled before the reference was locked' });
      const locked = await lockRef(git, place, spec, options.processIdentity);
      if (locked.ok) return locked;
      const now = await git.run({ gitDir: place.gitDir, args: ['rev-parse', '--verify', '--quiet', place.ref] });
      if (now.stdout.toString('utf8').trim() === spec.old) return locked;
      return err({ code: 'base_moved', message: `${place.ref} is no longer at ${spec.old}` });
    },
    async refreshIndex(place) {
      if (place.worktree === null) return;
      const { gitDir, root } = place.worktree;
      await git.run({ gitDir, workTree: root, args: ['update-index', '-q', '--refresh'], config: ['core.fsync=none'] });
    },
  };
}

async function findHome(git: TargetGit, directory: string): Promise<Home> {
  const questions = ['--path-format=absolute', '--git-common-dir', '--git-dir', '--is-inside-work-tree'];
  const answers = await git.discover(directory, ['rev-parse', ...questions]);
  const [common = '', own = '', inside = ''] = answers.split('\n');
  const root = inside === 'true' ? await git.discover(directory, ['rev-parse', '--show-toplevel']) : null;
  return {
    commonDir: await fs.realpath(common),
    gitDir: await fs.realpath(own),
    root: root === null ? null : await fs.realpath(root),
  };
}

/** A method that needs a work tree was called for a target that is checked out nowhere: a bug of the caller. */
function checkedOut(place: TargetPlace): WorkTree {
  if (place.worktree === null) throw new Error(`${place.ref} is checked out nowhere`);
  return place.worktree;
}

async function treeDiff(
  git: TargetGit,
  place: TargetPlace,
  oldTree: ObjectId,
  newTree: ObjectId,
  signal: AbortSignal,
): Promise<readonly TreeChange[]> {
  const args = ['diff-tree', '-r', '--raw', '-z', '--no-renames', '--no-abbrev', oldTree, newTree];
  const output = await git.must({ gitDir: place.gitDir, args, signal });
  return parseRawDiff(output).rows.map((row) => {
    // Paths of a revision passed the path function; one that is not UTF-8 means that the trees are not a revision's.
    if (row.path === null) throw new TargetGitError(args, 'a touched path is not UTF-8', false);
    return { path: row.path, oldMode: row.oldMode, newMode: row.newMode, oldId: row.oldId, newId: row.newId };
  });
}

async function entriesOf(
  git: TargetGit,
  place: TargetPlace,
  commit: ObjectId,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Blob>> {
  const wanted = new Set(paths);
  const entries = new Map<string, Blob>();
  const args = ['ls-tree', '-r', '-z', '--full-tree', commit];
  const output = await git.must({ gitDir: place.gitDir, args, signal });
  for (const row of output.toString('utf8').split('\0')) {
    const tab = row.indexOf('\t');
    const [mode = '', , id = ''] = row.slice(0, tab).split(' ');
    if (tab !== -1 && wanted.has(row.slice(tab + 1))) entries.set(row.slice(tab + 1), { mode, id });
  }
  return entries;
}
