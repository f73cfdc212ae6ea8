import type { EngineError } from '../domain/errors.ts';
import type { Result } from '../domain/result.ts';

/** What is asked of the user's git repository before anything else is known. Reading only. */
export interface RepositoryFacts {
  /** Absolute path of the work tree's root. */
  readonly topLevel: string;
  /** Absolute; differs from `commonDir` in a linked worktree. */
  readonly gitDir: string;
  readonly commonDir: string;
  /** Commit that is checked out, or null before the first one. */
  readonly headCommit: string | null;
  /** Short name of the branch that is checked out (also before its first commit), or null when HEAD is detached. */
  readonly branch: string | null;
  readonly isShallow: boolean;
  readonly objectFormat: 'sha1' | 'sha256';
  readonly identity: OperatorIdentity;
  /** Major, minor and patch of the git program. */
  readonly gitVersion: readonly [number, number, number];
}

/** The operator as git knows him; null where git knows nothing. */
export interface OperatorIdentity {
  readonly name: string | null;
  readonly email: string | null;
  /** `commit.gpgSign`. */
  readonly signs: boolean;
}

export interface ProjectFacts {
  /**
   * Facts about the repository around a directory. Errors: not_a_repository, bare_repository, git_missing, git_failed.
   */
  read(directory: string): Promise<Result<RepositoryFacts, EngineError>>;
}
