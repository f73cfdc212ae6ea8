/**
 * Every expected failure that can reach a person or a script, by stable code. `exit` is the process exit code of a
 * command that ends with it (1 error, 2 usage, 3 needs the operator, 6 engine owned elsewhere).
 */
export const ERRORS = {
  not_a_repository: { exit: 1, means: 'the directory is not inside a git repository' },
  no_commit: { exit: 1, means: 'the repository has no commit yet' },
  bare_repository: { exit: 1, means: 'the repository has no work tree' },
  unsupported_repository: { exit: 1, means: 'the repository has a shape that is not handled; the message names it' },
  git_missing: { exit: 1, means: 'git is not installed or not on PATH' },
  git_too_old: { exit: 1, means: 'git is older than the oldest version that is supported' },
  git_failed: { exit: 1, means: 'a git command failed; the message has its words' },
  git_busy: { exit: 1, means: 'another git process holds the index or a ref' },
  git_operation_in_progress: { exit: 1, means: 'a merge, rebase, cherry-pick, revert or bisect is under way' },
  no_identity: { exit: 1, means: 'git knows no name and e-mail to commit with' },
  not_initialised: { exit: 1, means: 'there is no .roundtable/config.yaml here' },
  config_invalid: { exit: 1, means: 'the configuration does not match its schema; file, line and column are given' },
  policy_invalid: { exit: 1, means: 'the policy does not match its schema; file, line and column are given' },
  task_file_invalid: { exit: 1, means: 'a task file does not match its schema; file, line and column are given' },
  storage_failed: { exit: 1, means: 'the state directory or database can not be used' },
  store_busy: { exit: 1, means: 'another process held the database for too long' },
  store_newer: { exit: 1, means: 'the database was written by a newer version' },
  engine_owned: { exit: 6, means: 'another process owns the engine of this project' },
  engine_not_running: { exit: 1, means: 'the request needs a running engine and none picked it up in time' },
  container_engine_unavailable: { exit: 1, means: 'no container engine answers; agents never run on the host' },
  image_not_configured: { exit: 1, means: 'the adapter has no image' },
  image_not_pinned: { exit: 1, means: 'the image is named by a mutable tag' },
  image_missing: { exit: 1, means: 'the image is not on this engine' },
  image_contract: { exit: 1, means: 'the image lacks something that every session needs' },
  container_failed: { exit: 1, means: 'the container engine refused or failed a call' },
  credential_missing: { exit: 1, means: 'an environment variable named in credential_env has no value' },
  adapter_unsupported: { exit: 1, means: 'this version has no adapter of that kind' },
  scope_empty: { exit: 1, means: 'the scope matches nothing in the base, so there is nothing to give an agent' },
  path_refused: { exit: 1, means: 'a path is not acceptable; the message says why' },
  task_cycle: { exit: 1, means: 'the dependencies of tasks would form a cycle' },
  not_found: { exit: 1, means: 'there is nothing with that id' },
  illegal_transition: { exit: 1, means: 'the status does not allow that' },
  revision_stale: { exit: 1, means: 'the decision names a revision that is no longer the current one' },
  gates_not_passed: { exit: 3, means: 'not every gate holds' },
  revision_refused: { exit: 1, means: 'the change is refused; the message gives path and reason' },
  human_decision_required: {
    exit: 1,
    means: 'a decision needs a terminal and the id typed, or operator.allow_noninteractive',
  },
  not_permitted: { exit: 1, means: 'the principal may not do that' },
  base_moved: { exit: 1, means: 'the target moved and the change does not fit the new base' },
  worktree_dirty: { exit: 1, means: 'uncommitted edits lie in paths that the change touches' },
  apply_refused: { exit: 1, means: 'the transaction manager refused; nothing was changed' },
  rollback_conflict: { exit: 1, means: 'later edits conflict with undoing the change' },
  transaction_unresolved: { exit: 1, means: 'a recovered transaction needs a look by the operator' },
  invalid_argument: { exit: 2, means: 'an argument is not acceptable' },
  cancelled: { exit: 130, means: 'the operation was cancelled' },
} as const satisfies Record<string, { exit: number; means: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** An expected failure. `message` says what; `remedy` says how to mend it. */
export interface EngineError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly remedy: string;
  /** Paths, positions or gates concerned; codes decide which keys there are. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export function engineError(
  code: ErrorCode,
  message: string,
  remedy: string,
  details?: Readonly<Record<string, unknown>>,
): EngineError {
  return details === undefined ? { code, message, remedy } : { code, message, remedy, details };
}
