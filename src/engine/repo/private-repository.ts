/**
 * The project's private bare repository: the port's methods over the parts in this folder. Foreign failures become values here.
 * Trusts: the user's git repository and the git program. Does not trust: patches, workspaces, trees, attributes, the
 * environment. Laid-out files have modes 0644/0755 and 0777-links, less the process's umask.
 */
import path from 'node:path';
import type { ObjectId } from '../domain/ids.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type {
  BuiltRevision,
  PrivateRepository,
  RepositoryFailure,
  RevisionRefusal,
} from '../ports/private-repository.ts';
import { displayDiff } from './display-diff.ts';
import { GitError, GitRunner } from './git-runner.ts';
import { graftRevision } from './graft-revision.ts';
import { openIgnoreMatcher } from './ignore-matcher.ts';
import { keepRevision } from './keep-revision.ts';
import { revisionFromPatch } from './patch-revision.ts';
import { layOut } from './provision.ts';
import { Quarantine } from './quarantine.ts';
import { readFileIn } from './read-file.ts';
import { Scratch } from './scratch.ts';
import { Stores } from './stores.ts';
import { withTreeReader } from './tree-reader.ts';
import { revisionFromWorkspace } from './workspace-revision.ts';

export interface PrivateRepositoryOptions {
  /** `<state>/objects.git`; made when first needed. */
  readonly gitDir: string;
  /** Common git directory of the user's repository. */
  readonly userGitDir: string;
  /** Only named in messages; no file in it is read. */
  readonly userWorkTree: string;
  /** Belongs to this repository alone. */
  readonly tempDir: string;
  /** Program; default `git` on PATH. */
  readonly git?: string;
}

export type SweepablePrivateRepository = PrivateRepository & {
  /** Removes what killed processes left in `tempDir`. Only for the engine's owner, at its start. */
  sweep(): Promise<void>;
};

export function createPrivateRepository(options: PrivateRepositoryOptions): SweepablePrivateRepository {
  const scratch = new Scratch(options.tempDir);
  const emptyDir = path.join(options.tempDir, 'empty');
  const runner = new GitRunner({ git: options.git ?? 'git', emptyDir });
  const stores = new Stores(runner, options);
  const tools = { runner, stores };

  const guarded = async <T, E>(signal: AbortSignal, use: () => Promise<Result<T, E>>) => {
    try {
      await scratch.emptyDir();
      return await use();
    } catch (cause) {
      return err(failureOf(cause, signal));
    }
  };
  const withBase = async <T, E>(
    commit: ObjectId,
    signal: AbortSignal,
    use: (tree: ObjectId) => Promise<Result<T, E>>,
  ): Promise<Result<T, E | RepositoryFailure>> => {
    const base = await stores.ensureBase(commit, signal);
    return base.ok ? use(base.value.tree) : base;
  };
  /** Builds a revision with its objects in quarantine, and lets them out when it is accepted. */
  const build = <T extends BuiltRevision | null>(
    make: (quarantine: Quarantine, directory: string) => Promise<Result<T, RevisionRefusal>>,
  ): Promise<Result<T, RevisionRefusal>> =>
    scratch.with('revision', async (directory) => {
      const quarantine = new Quarantine(directory, stores.bases.gitDir);
      const built = await make(quarantine, directory);
      if (built.ok && built.value !== null) await quarantine.adoptInto(stores.revisionObjects);
      return built;
    });

  return {
    sweep: () => scratch.sweep(),

    ensureBase: (commit, signal) => guarded(signal, () => stores.ensureBase(commit, signal)),

    provision: (spec, signal) =>
      guarded(signal, () =>
        withBase(spec.commit, signal, (tree) =>
          scratch.with('layout', async (directory) => {
            const content = spec.contentTree ? { place: stores.revisions, tree: spec.contentTree } : null;
            const laidOut = await layOut({ ...tools, ...spec, place: stores.bases, directory, tree, content, signal });
            return ok({ baseTree: tree, ...laidOut });
          }),
        ),
      ),

    materialise: (tree, withhold, targetDir, signal) =>
      guarded(signal, () =>
        scratch.with('layout', async (directory) => {
          const place = stores.revisions;
          const inScope = () => true;
          const { withheld } = await layOut({
            ...tools,
            place,
            directory,
            tree,
            content: null,
            inScope,
            withhold,
            targetDir,
            signal,
          });
          return ok({ withheld });
        }),
      ),

    revisionFromWorkspace: (spec, signal) =>
      guarded(signal, () =>
        withBase(spec.baseCommit, signal, (baseTree) =>
          build((quarantine, directory) =>
            revisionFromWorkspace({ ...tools, quarantine, directory, baseTree, spec, signal }),
          ),
        ),
      ),

    revisionFromPatch: (spec, signal) =>
      guarded(signal, () =>
        withBase(spec.baseCommit, signal, (baseTree) =>
          build((quarantine, directory) =>
            revisionFromPatch({ ...tools, ...spec, quarantine, directory, baseTree, signal }),
          ),
        ),
      ),

    graft: (spec, signal) =>
      guarded(signal, () =>
        withBase(spec.oldBase, signal, (oldTree) =>
          withBase(spec.newBase, signal, (newTree) =>
            build((quarantine, directory) =>
              graftRevision({ ...tools, ...spec, quarantine, directory, oldTree, newTree, signal }),
            ),
          ),
        ),
      ),

    keep: (proposalId, number, revision, signal) =>
      guarded(signal, async () => {
        await keepRevision(runner, stores.revisions, { proposalId, number, revision }, signal);
        return ok(undefined);
      }),

    diff: (oldTree, newTree, diffOptions, signal) =>
      guarded(signal, async () => {
        const trees = { old: oldTree, new: newTree };
        return ok(await displayDiff(runner, stores.revisions, trees, diffOptions, signal));
      }),

    readFile: (treeish, file, maxBytes, signal) =>
      guarded(signal, async () => ok(await readFileIn(runner, stores.revisions, { treeish, file, maxBytes }, signal))),

    entryIds: (treeish, paths, signal) =>
      guarded(signal, () =>
        withTreeReader(runner, stores.revisions, signal, async (reader) => {
          const tree = await reader.treeOf(treeish);
          const found = tree === null ? [] : await reader.lookup(tree, paths);
          return ok(new Map([...found].map(([file, entry]) => [file, entry.id] as const)));
        }),
      ),

    ignoreMatcher: (tree, signal) =>
      guarded(signal, async () => {
        const directory = await scratch.make('ignore');
        return ok(await openIgnoreMatcher(runner, stores.revisions, directory, tree, signal));
      }),
  };
}

function failureOf(cause: unknown, signal: AbortSignal): RepositoryFailure {
  if (signal.aborted || (cause instanceof GitError && cause.cancelled)) {
    return { code: 'cancelled', message: 'the work on the repository was cancelled', remedy: 'start it again' };
  }
  if (cause instanceof GitError || isSystemError(cause)) {
    const more = cause instanceof GitError ? cause.stderr.trim().split('\n').slice(1, 4).join('; ') : '';
    return {
      code: 'git_failed',
      message: more === '' ? cause.message : `${cause.message}; ${more}`,
      remedy: 'check disk space and permissions of the state directory, and that git runs',
    };
  }
  throw cause;
}

/** Refusals of the operating system, such as a full disk. */
function isSystemError(cause: unknown): cause is Error {
  return cause instanceof Error && 'syscall' in cause && 'errno' in cause;
}
