import path from 'node:path';
import { type ChangeOrder, directoriesAbove } from '../../domain/change-order.ts';
import {
  type Blob,
  type PathFindings,
  type PathProblem,
  type PathVerdict,
  verifyPath,
} from '../../domain/path-verification.ts';
import type { PathState } from '../../domain/recovery.ts';
import { err, ok, type Result } from '../../domain/result.ts';
import type { Fs } from '../../ports/fs.ts';
import type { TargetPlace, TargetRepository, WorkTree } from '../../ports/target-repository.ts';
import { concurrently, FILE_CONCURRENCY } from './concurrently.ts';
import { directoryAsAbsent, observe } from './observe.ts';
import { refusal, type TransactionRefusal } from './refusal.ts';

export interface ExpectedPath {
  readonly path: string;
  readonly base: Blob | null;
  readonly before: PathState;
}

/** Compares index and work tree with what is expected at every touched path; changes nothing. */
export async function verifyPaths(
  deps: { readonly fs: Fs; readonly target: TargetRepository },
  place: TargetPlace,
  worktree: WorkTree,
  expected: readonly ExpectedPath[],
  order: ChangeOrder,
  removed: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Result<void, TransactionRefusal>> {
  const names = expected.map((entry) => entry.path);
  const index = await deps.target.indexEntries(place, names, signal);
  const parents = await badParents(deps.fs, worktree.root, names, removed);
  const replaced = new Set(order.replacedDirectories);
  const verdicts = await concurrently(expected, FILE_CONCURRENCY, async (entry): Promise<PathVerdict | null> => {
    const seen = await observe(deps.fs, worktree.root, entry.path, order.exact.has(entry.path));
    const findings: PathFindings = {
      ...entry,
      index: index.get(entry.path) ?? null,
      found: directoryAsAbsent(seen, entry.path, replaced),
      badParents: directoriesAbove(entry.path).filter((directory) => parents.has(directory)),
      strangers: replaced.has(entry.path)
        ? await strangersIn(deps.fs, worktree.root, entry.path, removed, replaced)
        : [],
    };
    return verifyPath(findings, worktree.trustExecutable);
  });
  return judge(verdicts.filter((verdict) => verdict !== null));
}

const PROBLEMS: readonly (readonly [PathProblem, string])[] = [
  ['parent_not_directory', 'something that is not a real directory stands where the change needs one'],
  ['index_differs', 'the index holds other entries than the base'],
  ['path_in_the_way', 'files that git does not track are in the way'],
  ['worktree_dirty', 'there are uncommitted edits in touched paths'],
];

function judge(verdicts: readonly PathVerdict[]): Result<void, TransactionRefusal> {
  for (const [problem, message] of PROBLEMS) {
    const paths = new Set(verdicts.filter((verdict) => verdict.problem === problem).map((verdict) => verdict.path));
    if (paths.size > 0) return err(refusal(problem, message, [...paths]));
  }
  return ok(undefined);
}

/** Directories above touched paths that are something else; a file that the change removes may become one. */
async function badParents(
  fs: Fs,
  root: string,
  names: readonly string[],
  removed: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const directories = [...new Set(names.flatMap(directoriesAbove))];
  const bad = await concurrently(directories, FILE_CONCURRENCY, async (directory) => {
    const entry = await fs.lstat(path.join(root, directory));
    if (entry === null || entry.kind === 'directory') return null;
    return entry.kind === 'file' && removed.has(directory) ? null : directory;
  });
  return new Set(bad.filter((directory) => directory !== null));
}

/** Everything below a directory that must become a file, but the files and directories that the change removes. */
async function strangersIn(
  fs: Fs,
  root: string,
  directory: string,
  removed: ReadonlySet<string>,
  replaced: ReadonlySet<string>,
): Promise<string[]> {
  const strangers: string[] = [];
  for (const name of (await fs.readdir(path.join(root, directory))) ?? []) {
    const file = `${directory}/${name}`;
    const isDirectory = (await fs.lstat(path.join(root, file)))?.kind === 'directory';
    if (isDirectory && replaced.has(file)) strangers.push(...(await strangersIn(fs, root, file, removed, replaced)));
    else if (isDirectory || !removed.has(file)) strangers.push(file);
  }
  return strangers;
}
