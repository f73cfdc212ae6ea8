import type { ObjectId } from '../domain/ids.ts';
import type { Result } from '../domain/result.ts';
import type { RepositoryFailure } from './private-repository.ts';

/** Where the user's HEAD stands: a branch by its full name, or `HEAD` itself when it is detached. */
export interface HeadState {
  readonly ref: string;
  readonly commit: ObjectId | null;
}

/** What the engine reads from the user's repository. Nothing here writes to it. */
export interface ProjectGit {
  head(signal: AbortSignal): Promise<Result<HeadState, RepositoryFailure>>;
  /** Commit that a full ref name (or `HEAD`) points to now, or null. */
  resolve(ref: string, signal: AbortSignal): Promise<Result<ObjectId | null, RepositoryFailure>>;
  /** Full ref name of a branch or full ref as a person writes it (`main`, `refs/heads/main`), or null when there is none. */
  expandRef(name: string, signal: AbortSignal): Promise<Result<string | null, RepositoryFailure>>;
  /** Every file path of a commit. */
  listPaths(commit: ObjectId, signal: AbortSignal): Promise<Result<readonly string[], RepositoryFailure>>;
}
