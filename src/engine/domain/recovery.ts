/**
 * The recovery table of the transaction manager as data and two pure functions. It decides from what the journal says
 * and from what is found; it never looks at files first, because files alone can't tell a landed commit from one
 * that did not land.
 */

/** What stands at a path, as far as a transaction is concerned. */
export type PathState =
  | { readonly kind: 'absent' }
  | { readonly kind: 'file'; readonly sha256: string; readonly executable: boolean }
  /** A directory, a link or something else, where only a file or nothing was expected. */
  | { readonly kind: 'directory' | 'other' };

export const ABSENT: PathState = { kind: 'absent' };

/** `trustExecutable` is false when git is told not to trust the executable bit (core.fileMode=false). */
export function sameState(a: PathState, b: PathState, trustExecutable: boolean): boolean {
  if (a.kind === 'file' && b.kind === 'file')
    return a.sha256 === b.sha256 && (!trustExecutable || a.executable === b.executable);
  return a.kind === 'absent' && b.kind === 'absent';
}

/** The reference, read while it is locked, against the journal's old and new commit. */
export type RefState = 'new_reachable' | 'old' | 'neither';
/** The index against the journal; `other` when it is neither. */
export type IndexState = 'old' | 'new' | 'other';

export interface Found {
  readonly status: 'prepared' | 'verified' | 'applying';
  /** False when the transaction makes no commit: then the index decides. */
  readonly commits: boolean;
  readonly ref: RefState;
  readonly index: IndexState;
}

export interface RecoveryDecision {
  readonly row: 'before_applying' | 'landed' | 'not_landed' | 'index_landed' | 'index_unknown' | 'ref_elsewhere';
  readonly outcome: 'applied' | 'aborted';
  /**
   * `none`: no file is touched; `restore`: per path, see `restoreVerdict`; `restore_unlanded`: the same, except that a path whose
   * blob in HEAD is the transaction's stays; `list`: no file is touched and those that are not as before are listed.
   */
  readonly files: 'none' | 'restore' | 'restore_unlanded' | 'list';
  /** What to do with the new index: put it in place (or merge the touched entries), or drop our lock. */
  readonly index: 'finish' | 'drop';
  readonly needsOperator: boolean;
}

/** One row of the table for what was found. */
export function decideRecovery(found: Found): RecoveryDecision {
  if (found.status !== 'applying') return ROWS.before_applying;
  if (!found.commits) {
    if (found.index === 'new') return ROWS.index_landed;
    return found.index === 'old' ? ROWS.not_landed : ROWS.index_unknown;
  }
  if (found.ref === 'new_reachable') return ROWS.landed;
  return found.ref === 'old' ? ROWS.not_landed : ROWS.ref_elsewhere;
}

const ROWS = {
  before_applying: {
    row: 'before_applying',
    outcome: 'aborted',
    files: 'none',
    index: 'drop',
    needsOperator: false,
  },
  landed: { row: 'landed', outcome: 'applied', files: 'none', index: 'finish', needsOperator: false },
  not_landed: { row: 'not_landed', outcome: 'aborted', files: 'restore', index: 'drop', needsOperator: false },
  index_landed: { row: 'index_landed', outcome: 'applied', files: 'none', index: 'finish', needsOperator: false },
  index_unknown: { row: 'index_unknown', outcome: 'aborted', files: 'list', index: 'drop', needsOperator: true },
  ref_elsewhere: {
    row: 'ref_elsewhere',
    outcome: 'aborted',
    files: 'restore_unlanded',
    index: 'drop',
    needsOperator: true,
  },
} as const satisfies Record<RecoveryDecision['row'], RecoveryDecision>;

/** `restore`: the transaction's bytes stand there, put back what was before; `nothing`; `leave`: somebody else's, list it. */
export type RestoreVerdict = 'restore' | 'nothing' | 'leave';

export function restoreVerdict(path: {
  readonly before: PathState;
  readonly after: PathState;
  readonly found: PathState;
  /** True when HEAD holds the transaction's result for this path and such paths stay. */
  readonly landed: boolean;
  readonly trustExecutable: boolean;
}): RestoreVerdict {
  if (sameState(path.found, path.before, path.trustExecutable)) return 'nothing';
  if (!sameState(path.found, path.after, path.trustExecutable)) return 'leave';
  return path.landed ? 'nothing' : 'restore';
}
