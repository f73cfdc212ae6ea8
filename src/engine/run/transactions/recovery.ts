import type { ObjectId, TransactionId } from '../../domain/ids.ts';
import { sameEntry } from '../../domain/path-verification.ts';
import type { TransactionRecord } from '../../domain/records.ts';
import { decideRecovery, type RecoveryDecision, type RefState } from '../../domain/recovery.ts';
import type { TargetPlace } from '../../ports/target-repository.ts';
import type { Settle } from '../../ports/transaction-journal.ts';
import { dropWorkspace, removeEmptiedDirectories } from './cleanup.ts';
import { neverAborted, type TransactionDeps } from './deps.ts';
import { endEarlierRefLock, holdRef } from './hold-ref.ts';
import { dropIndexLock, finishIndex, indexState } from './index-lock.ts';
import { type Journal, type JournalFiles, readJournal } from './journal-text.ts';
import { JournalFailure } from './phases.ts';
import { pathsNotAsBefore, restoreFiles } from './restore-files.ts';
import { type Workspace, workspaceOf } from './workspace.ts';

export interface RecoveryReport {
  readonly transactionId: TransactionId;
  readonly outcome: 'applied' | 'aborted';
  readonly row: RecoveryDecision['row'];
  readonly needsOperator: boolean;
  /** Paths that hold something else than before and after and were left as they are. */
  readonly left: readonly string[];
  /** Files of ours in which somebody's edits were found; nothing else has them. */
  readonly kept: readonly string[];
}

/** What stopped a recovery; the transaction stays open and can be recovered again. */
export class RecoveryBlocked extends Error {
  override readonly name = 'RecoveryBlocked';
}

/**
 * Closes one open transaction by the table (`decideRecovery`): at start after a crash, and in the same process when a step
 * failed. Safe to be stopped anywhere and begun again.
 */
export async function recoverTransaction(
  deps: TransactionDeps,
  record: TransactionRecord,
  settle: Settle,
  options: { readonly recovered: boolean; readonly reason: string },
): Promise<RecoveryReport> {
  const journal = readJournal(record);
  const place = await deps.target.relocate(record.targetRef, journal.files?.worktree ?? null, neverAborted());
  if (!(await endEarlierRefLock(deps, record.id, place, journal.newCommit)))
    throw new RecoveryBlocked('a git that the earlier engine started still holds the reference');

  if (record.status !== 'applying') return carryOut(deps, record, journal, place, settle, options, null);
  const held = await holdRef(deps, place);
  if (held === null) throw new RecoveryBlocked(`another git holds ${record.targetRef}`);
  try {
    return await carryOut(deps, record, journal, place, settle, options, held.value);
  } finally {
    await held.lock.abort();
  }
}

async function carryOut(
  deps: TransactionDeps,
  record: TransactionRecord,
  journal: Journal,
  place: TargetPlace,
  settle: Settle,
  options: { readonly recovered: boolean; readonly reason: string },
  value: ObjectId | null,
): Promise<RecoveryReport> {
  const { files } = journal;
  const { worktree } = place;
  const { status } = record;
  if (status !== 'prepared' && status !== 'verified' && status !== 'applying')
    throw new Error(`${record.id} is ${status}: there is nothing to recover`);
  const decision = decideRecovery({
    status,
    commits: journal.newCommit !== null,
    ref: status === 'applying' ? await refState(deps, place, journal, value) : 'old',
    index:
      status !== 'applying' || files === null || worktree === null
        ? 'old'
        : await indexState(deps, place, worktree, files),
  });

  let left: string[] = [];
  if (files !== null && worktree !== null) {
    const workspace = workspaceOf(record.id, worktree, files.stageIn, deps.stateTempDir);
    left = await carryOutFiles(deps, place, worktree.root, workspace, files, decision);
    if (decision.index === 'drop' || !(await headHolds(deps, place, journal.newCommit)))
      await dropIndexLock(deps.fs, worktree, files.newIndex);
    else if (!(await finishIndex(deps, place, worktree, workspace, files)))
      throw new RecoveryBlocked('another git holds the index');
    if (decision.outcome === 'applied') await removeEmptiedDirectories(deps.fs, worktree.root, files);
  } else if (files !== null && status === 'applying' && decision.outcome === 'aborted') {
    // The work tree is gone, and with it every file that could be put back.
    left = files.paths.map((entry) => entry.path);
  }

  const needsOperator = decision.needsOperator || left.length > 0;
  const closed = await deps.journal.close(
    record.id,
    {
      outcome: decision.outcome,
      reason: `${options.reason} (${decision.row})`,
      needsOperator,
      recovered: options.recovered,
      left,
      newCommit: decision.outcome === 'applied' ? journal.newCommit : null,
    },
    settle,
  );
  if (!closed.ok) throw new JournalFailure(closed.error.message);
  let kept: string[] = [];
  if (files !== null && worktree !== null) {
    const workspace = workspaceOf(record.id, worktree, files.stageIn, deps.stateTempDir);
    kept = await dropWorkspace(deps, record.id, workspace, files);
    if (decision.outcome === 'applied') await deps.target.refreshIndex(place);
  }
  return { transactionId: record.id, outcome: decision.outcome, row: decision.row, needsOperator, left, kept };
}

async function refState(
  deps: TransactionDeps,
  place: TargetPlace,
  journal: Journal,
  value: ObjectId | null,
): Promise<RefState> {
  if (value === null) return 'neither';
  const { newCommit } = journal;
  if (newCommit !== null && (await deps.target.reachable(place, newCommit, value, neverAborted())))
    return 'new_reachable';
  return value === journal.oldCommit ? 'old' : 'neither';
}

/** False when the user went to another branch meanwhile: the index is that branch's, and nothing of ours belongs there. */
async function headHolds(deps: TransactionDeps, place: TargetPlace, newCommit: ObjectId | null): Promise<boolean> {
  if (newCommit === null) return true;
  const head = await deps.target.resolve(place, 'HEAD', neverAborted());
  return head !== null && (await deps.target.reachable(place, newCommit, head, neverAborted()));
}

async function carryOutFiles(
  deps: TransactionDeps,
  place: TargetPlace,
  root: string,
  workspace: Workspace,
  files: JournalFiles,
  decision: RecoveryDecision,
): Promise<string[]> {
  if (decision.files === 'none') return [];
  if (decision.files === 'list') return pathsNotAsBefore(deps.fs, root, files);
  const head = decision.files === 'restore' ? null : await deps.target.resolve(place, 'HEAD', neverAborted());
  const names = files.paths.map((entry) => entry.path);
  const inHead = head === null ? null : await deps.target.entriesOf(place, head, names, neverAborted());
  return restoreFiles(
    deps.fs,
    root,
    workspace,
    files,
    (entry) => inHead !== null && sameEntry(inHead.get(entry.path) ?? null, entry.result),
  );
}
