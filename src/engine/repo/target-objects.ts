/**
 * Objects of the user's repository: copying a revision's from the private repository and making the commit. Trusts the
 * private repository's objects only as far as git checks them while indexing; relies on `core.fsync=all` for bytes, the
 * caller syncs the directories.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { ObjectId } from '../domain/ids.ts';
import { err, ok, type Result } from '../domain/result.ts';
import { type CommitSpec, type TargetFailure, TargetGitError, type TargetPlace } from '../ports/target-repository.ts';
import { parseRawDiff } from './raw-diff.ts';
import type { TargetGit } from './target-git.ts';
import { configBool } from './target-place.ts';

/** Up to this many objects are written loose; more become one pack, which costs two syncs instead of one per object. */
const LOOSE_LIMIT = 16;

export async function importObjects(
  git: TargetGit,
  place: TargetPlace,
  spec: { readonly oldTree: ObjectId; readonly newTree: ObjectId; readonly fromGitDir: string },
  signal: AbortSignal,
): Promise<Result<readonly ObjectId[], TargetFailure>> {
  const from = spec.fromGitDir;
  const listing = await git.run({
    gitDir: from,
    args: ['diff-tree', '-r', '-t', '--raw', '-z', '--no-renames', '--no-abbrev', spec.oldTree, spec.newTree],
    signal,
  });
  if (listing.exitCode !== 0)
    return err({
      code: 'objects_missing',
      message: `the trees of the revision can't be read: ${listing.stderr.trim()}`,
    });
  const wanted = new Set<ObjectId>([spec.newTree]);
  for (const row of parseRawDiff(listing.stdout).rows)
    if (row.newId !== null && row.newMode !== '160000') wanted.add(row.newId);

  const missing = await missingObjects(git, place, [...wanted], signal);
  if (missing.length === 0) return ok([]);
  const receive = missing.length <= LOOSE_LIMIT ? ['unpack-objects', '-q'] : ['index-pack', '--stdin'];
  try {
    await git.pipe(
      { gitDir: from, args: ['pack-objects', '--stdout', '-q'], input: `${missing.join('\n')}\n`, signal },
      { gitDir: place.gitDir, args: receive, signal },
    );
  } catch (cause) {
    if (!(cause instanceof TargetGitError) || cause.cancelled) throw cause;
    return err({ code: 'objects_missing', message: cause.message });
  }
  return ok(missing);
}

async function missingObjects(
  git: TargetGit,
  place: TargetPlace,
  ids: readonly ObjectId[],
  signal: AbortSignal,
): Promise<ObjectId[]> {
  const output = await git.must({
    gitDir: place.gitDir,
    args: ['cat-file', '--batch-check=%(objectname)'],
    input: `${ids.join('\n')}\n`,
    signal,
  });
  return output
    .toString('utf8')
    .split('\n')
    .filter((line) => line.endsWith(' missing'))
    .map((line) => line.slice(0, -' missing'.length) as ObjectId);
}

export async function createCommit(
  git: TargetGit,
  place: TargetPlace,
  spec: CommitSpec,
  signal: AbortSignal,
): Promise<Result<ObjectId, TargetFailure>> {
  // Without this git would make up an address from user and host name.
  const config = ['user.useConfigOnly=true', 'i18n.commitEncoding=UTF-8'];
  const sign = await configBool(git, place.gitDir, 'commit.gpgSign', false, signal);
  const made = await git.run({
    gitDir: place.gitDir,
    config,
    args: ['commit-tree', ...(sign ? ['-S'] : []), '-p', spec.parent, '-F', '-', spec.tree],
    input: spec.message,
    signal,
  });
  if (made.exitCode !== 0) {
    const words = made.stderr.trim().slice(0, 400);
    for (const variable of ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT']) {
      const identity = await git.run({ gitDir: place.gitDir, config, args: ['var', variable], signal });
      if (identity.exitCode !== 0)
        return err({ code: 'no_identity', message: 'git knows no name and e-mail to commit with' });
    }
    if (sign) return err({ code: 'signing_failed', message: `the commit could not be signed: ${words}` });
    return err({ code: 'git_failed', message: `git commit-tree failed: ${words}` });
  }
  return ok(made.stdout.toString('utf8').trim() as ObjectId);
}

/** Directories whose entries must be synced so that the objects are found again after a power cut. */
export function objectDirectories(place: TargetPlace, ids: readonly ObjectId[]): string[] {
  const objects = path.join(place.commonDir, 'objects');
  const loose = ids.map((id) => path.join(objects, id.slice(0, 2)));
  return [...new Set([...loose, path.join(objects, 'pack'), objects])].filter((directory) => existsSync(directory));
}

/** The same for a reference, its log and HEAD; a branch `a/b` may have brought its own directory. */
export function refDirectories(place: TargetPlace): string[] {
  const { commonDir, gitDir, ref } = place;
  const home = ref === 'HEAD' ? gitDir : commonDir;
  const candidates = [path.join(commonDir, 'reftable'), gitDir];
  for (const file of [path.join(home, ref), path.join(home, 'logs', ref)]) {
    let directory = path.dirname(file);
    for (; directory.length > home.length; directory = path.dirname(directory)) candidates.push(directory);
  }
  return [...new Set(candidates)].filter((directory) => existsSync(directory));
}
