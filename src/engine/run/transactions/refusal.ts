import { type EngineError, type ErrorCode, engineError } from '../../domain/errors.ts';
import { err, type Result } from '../../domain/result.ts';

/** Every expected way in which an application or rollback does not happen, with the remedy and the error it shows as. */
export const TRANSACTION_REFUSALS = {
  base_moved: ['base_moved', 'graft the revision to the new base, or ask for a new one'],
  target_missing: ['apply_refused', 'create the branch again, or start a run on another one'],
  target_unborn: ['no_commit', 'make the first commit, then start a run on it'],
  target_not_checked_out: ['apply_refused', 'check the target out, or let transactions make commits'],
  head_moved: ['apply_refused', 'check out again what the run started on'],
  worktree_missing: ['apply_refused', 'bring the work tree back, or run `git worktree prune`'],
  worktree_dirty: ['worktree_dirty', 'commit, stash or undo your edits in these paths, then apply again'],
  index_differs: ['worktree_dirty', 'commit or unstage these paths, then apply again'],
  path_in_the_way: ['worktree_dirty', 'move or remove these untracked or ignored files, then apply again'],
  parent_not_directory: ['apply_refused', 'make these real directories, then apply again'],
  other_filesystem: ['apply_refused', 'these paths lie on another file system than the work tree; apply by hand'],
  git_busy: ['git_busy', 'wait for the other git, or remove its stale lock file if none runs, then apply again'],
  operation_in_progress: ['git_operation_in_progress', 'finish or abort it, then apply again'],
  sparse_checkout: ['unsupported_repository', 'run `git sparse-checkout disable`, then apply again'],
  filter_unsupported: ['apply_refused', 'only the filter "lfs" is handled; apply these paths by hand'],
  mode_unsupported: ['apply_refused', 'links and submodules are not handled; change these paths by hand'],
  no_identity: ['no_identity', 'set user.name and user.email with `git config`'],
  signing_failed: ['apply_refused', 'make signing work (`git commit -S`), or unset commit.gpgSign'],
  objects_missing: ['apply_refused', 'the revision is not complete in the private repository; submit it again'],
  revision_mismatch: ['apply_refused', 'the revision does not fit its base; submit it again'],
  nothing_to_do: ['apply_refused', 'the target already has this content'],
  checkout_failed: ['apply_refused', 'see what git says; its attributes or filters do not accept the content'],
  rollback_conflict: ['rollback_conflict', 'undo the change in these paths by hand'],
  not_revertible: ['apply_refused', 'only an applied transaction that is in the target can be rolled back'],
  io_failed: ['apply_refused', 'mend what the system says (space, permissions, device), then apply again'],
  journal_failed: ['storage_failed', 'mend the state directory, then apply again'],
  git_failed: ['git_failed', 'see what git says, then apply again'],
  cancelled: ['cancelled', 'apply again when you want it'],
  needs_recovery: ['transaction_unresolved', 'mend what the message says, then run `roundtable transactions recover`'],
} as const satisfies Record<string, readonly [ErrorCode, string]>;

export type TransactionRefusalCode = keyof typeof TRANSACTION_REFUSALS;

export interface TransactionRefusal {
  readonly code: TransactionRefusalCode;
  readonly message: string;
  readonly remedy: string;
  /** Repository paths concerned, sorted. */
  readonly paths: readonly string[];
  /**
   * True when a row stands in the journal: `begin` ran, and so did `settle`, except for `needs_recovery`, where recovery will
   * call it. False: neither did, nothing is recorded.
   */
  readonly journaled: boolean;
}

export function refusal(
  code: TransactionRefusalCode,
  message: string,
  paths: readonly string[] = [],
): TransactionRefusal {
  const [, remedy] = TRANSACTION_REFUSALS[code];
  return { code, message, remedy, paths: [...paths].sort(), journaled: false };
}

export function refuse(
  code: TransactionRefusalCode,
  message: string,
  paths: readonly string[] = [],
): Result<never, TransactionRefusal> {
  return err(refusal(code, message, paths));
}

/** Paths in a message; all of them are in the details. */
const SHOWN_PATHS = 10;

/** As it is shown to people and scripts. */
export function toEngineError(error: TransactionRefusal): EngineError {
  const [code] = TRANSACTION_REFUSALS[error.code];
  const listed = error.paths.filter((path) => !error.message.includes(path));
  const more = listed.length > SHOWN_PATHS ? ` and ${listed.length - SHOWN_PATHS} more` : '';
  const where = listed.length === 0 ? '' : `: ${listed.slice(0, SHOWN_PATHS).join(', ')}${more}`;
  return engineError(code, `${error.message}${where}`, error.remedy, { reason: error.code, paths: error.paths });
}
