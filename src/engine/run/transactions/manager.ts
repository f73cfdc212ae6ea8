import path from 'node:path';
import type { ObjectId, ProposalId, TransactionId } from '../../domain/ids.ts';
import type { TransactionRecord } from '../../domain/records.ts';
import { err, type Result } from '../../domain/result.ts';
import type { WriteScope } from '../../ports/store.ts';
import type { TargetPlace } from '../../ports/target-repository.ts';
import type { Settle } from '../../ports/transaction-journal.ts';
import type { TransactionDeps } from './deps.ts';
import { type Applied, executeTransaction, expectedFailure } from './execute.ts';
import { readJournal } from './journal-text.ts';
import { type RecoveryReport, recoverTransaction } from './recovery.ts';
import { refuse, type TransactionRefusal } from './refusal.ts';
import { planRollback } from './rollback-plan.ts';
import { sweepLeftovers } from './sweep.ts';

interface Request {
  readonly transactionId: TransactionId;
  readonly proposalId: ProposalId;
  readonly revision: number;
  /** Subject and body; trailers are put below. */
  readonly message: string;
  /** In order, e.g. `['Roundtable-Proposal', 'P-7']`. */
  readonly trailers: readonly (readonly [string, string])[];
  /** Runs in the commit that records the transaction as prepared. Synchronous; throwing leaves nothing behind. */
  readonly begin: (scope: WriteScope) => void;
  /** Runs in the commit that records how it ended. Called exactly once if `begin` was, except after `needs_recovery`. */
  readonly settle: Settle;
}

export interface ApplyRequest extends Request {
  /** Full reference, or `HEAD` when detached. */
  readonly targetRef: string;
  readonly baseCommit: ObjectId;
  readonly baseTree: ObjectId;
  readonly resultTree: ObjectId;
  /** Git directory of the repository that has the revision's objects. */
  readonly objectsGitDir: string;
  /** False: the change ends up in index and work tree, and no commit is made. */
  readonly commit: boolean;
}

export interface RollbackRequest extends Request {
  readonly reverts: TransactionRecord;
}

export interface RecoverySummary {
  readonly closed: readonly RecoveryReport[];
  /** Open transactions that can't be closed now, and why; try again later. */
  readonly blocked: readonly { readonly transactionId: TransactionId; readonly reason: string }[];
  /** Files with edits of the user that leftovers held. */
  readonly kept: readonly string[];
}

export interface TransactionManager {
  /** Puts a revision into the target, wholly or not at all. */
  apply(request: ApplyRequest, signal: AbortSignal): Promise<Result<Applied, TransactionRefusal>>;
  /** Takes an applied transaction out of the target again, as a new transaction. */
  rollback(request: RollbackRequest, signal: AbortSignal): Promise<Result<Applied, TransactionRefusal>>;
  /** Closes every open transaction and removes leftovers. At start, before anything else, and on the operator's request. */
  recover(settle: Settle): Promise<RecoverySummary>;
}

/** The one writer of the user's work tree, index and references. Its calls wait for each other. */
export function createTransactionManager(deps: TransactionDeps): TransactionManager {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work, work);
    last = result.catch(() => undefined);
    return result;
  };
  return {
    apply: (request, signal) => inTurn(() => guarded(deps, request, () => apply(deps, request, signal))),
    rollback: (request, signal) => inTurn(() => guarded(deps, request, () => rollback(deps, request, signal))),
    recover: (settle) => inTurn(() => recover(deps, settle)),
  };
}

/** Nothing begins on top of what is not closed; and before a transaction is under way a failure has nothing to take back. */
async function guarded<T>(
  deps: TransactionDeps,
  request: Request,
  work: () => Promise<Result<T, TransactionRefusal>>,
): Promise<Result<T, TransactionRefusal>> {
  if (deps.journal.get(request.transactionId) !== null) throw new Error(`${request.transactionId} is used already`);
  const [open] = deps.journal.open();
  if (open !== undefined) return refuse('needs_recovery', `${open.id} is not closed yet`);
  try {
    return await work();
  } catch (cause) {
    const expected = expectedFailure(cause);
    if (expected === null) throw cause;
    return err(expected);
  }
}

async function apply(
  deps: TransactionDeps,
  request: ApplyRequest,
  signal: AbortSignal,
): Promise<Result<Applied, TransactionRefusal>> {
  const { target } = deps;
  const { baseCommit, baseTree, resultTree, targetRef } = request;
  const located = await target.locate(targetRef, signal);
  if (!located.ok) return refuse(located.error.code, located.error.message);
  const place = located.value;
  if (!request.commit && place.worktree === null)
    return refuse('target_not_checked_out', `${targetRef} is checked out nowhere, and no commit is to be made`);
  const tip = await target.resolve(place, targetRef, signal);
  if (tip !== baseCommit) return refuse('base_moved', `${targetRef} is at ${tip ?? 'nothing'}, not at ${baseCommit}`);
  if ((await target.treeOf(place, baseCommit, signal)) !== baseTree)
    return refuse('revision_mismatch', `${baseTree} is not the tree of ${baseCommit}`);
  const spec = { oldTree: baseTree, newTree: resultTree, fromGitDir: request.objectsGitDir };
  const imported = await target.importObjects(place, spec, signal);
  if (!imported.ok) return refuse(imported.error.code, imported.error.message);
  return executeTransaction(
    deps,
    {
      ...planOf(request, 'apply', null, place),
      oldCommit: baseCommit,
      oldTree: baseTree,
      newTree: resultTree,
      written: imported.value,
      commitMessage: request.commit ? commitMessage(request) : null,
    },
    signal,
  );
}

async function rollback(
  deps: TransactionDeps,
  request: RollbackRequest,
  signal: AbortSignal,
): Promise<Result<Applied, TransactionRefusal>> {
  const { target } = deps;
  const { reverts } = request;
  const reverted = readJournal(reverts);
  if (reverts.status !== 'applied') return refuse('not_revertible', `${reverts.id} is ${reverts.status}, not applied`);
  const located = await target.locate(reverts.targetRef, signal);
  if (!located.ok) return refuse(located.error.code, located.error.message);
  const place = located.value;
  const tip = await target.resolve(place, reverts.targetRef, signal);
  if (tip === null) return refuse('target_missing', `${reverts.targetRef} does not exist`);
  if (reverted.newCommit !== null && !(await target.reachable(place, reverted.newCommit, tip, signal)))
    return refuse('not_revertible', `${reverted.newCommit} is not in ${reverts.targetRef} any more`);
  const scratch = path.join(deps.stateTempDir, `roundtable-${request.transactionId}`);
  const planned = await planRollback(deps, place, reverted, tip, scratch, signal);
  if (!planned.ok) return planned;
  const tipTree = await target.treeOf(place, tip, signal);
  if (tipTree === null) throw new Error(`commit ${tip} has no tree`);
  return executeTransaction(
    deps,
    {
      ...planOf(request, 'rollback', reverts.id, place),
      oldCommit: tip,
      oldTree: tipTree,
      newTree: planned.value.tree,
      written: planned.value.written,
      commitMessage: commitMessage(request),
    },
    signal,
  );
}

async function recover(deps: TransactionDeps, settle: Settle): Promise<RecoverySummary> {
  const closed: RecoveryReport[] = [];
  const blocked: { transactionId: TransactionId; reason: string }[] = [];
  for (const record of deps.journal.open()) {
    try {
      closed.push(await recoverTransaction(deps, record, settle, { recovered: true, reason: 'recovered' }));
    } catch (cause) {
      const expected = expectedFailure(cause);
      if (expected === null) throw cause;
      blocked.push({ transactionId: record.id, reason: expected.message });
    }
  }
  return { closed, blocked, kept: await sweepLeftovers(deps) };
}

function planOf(request: Request, kind: 'apply' | 'rollback', revertsId: TransactionId | null, place: TargetPlace) {
  const { transactionId: id, proposalId, revision, begin, settle } = request;
  const record = { id, kind, proposalId, revision, revertsId };
  return { record, place, begin, settle, reflogMessage: `roundtable: ${kind} ${id} (${proposalId})` };
}

function commitMessage(request: Request): string {
  const trailers = request.trailers.map(([key, value]) => `${key}: ${value}\n`).join('');
  return `${request.message.trimEnd()}\n\n${trailers}`;
}
