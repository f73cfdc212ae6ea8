import type { BaseStates } from '../app/base-states.ts';
import { decide, notFound, refusalOf, refuse } from '../app/deps.ts';
import { releaseTaskClaims } from '../app/end-task.ts';
import { evaluateGates } from '../app/evaluate-gates.ts';
import { mustMove } from '../app/moves.ts';
import { commitMessage, rollbackMessage } from '../domain/commit-message.ts';
import { type EngineError, engineError } from '../domain/errors.ts';
import { allPassed } from '../domain/gates.ts';
import type { TransactionId } from '../domain/ids.ts';
import type { ProposalRecord, RevisionRecord, TransactionRecord } from '../domain/records.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { WriteScope } from '../ports/store.ts';
import type { TransactionOutcome } from '../ports/transaction-journal.ts';
import type { WorkDeps } from './deps.ts';
import type { TransactionManager } from './transactions/manager.ts';
import { type TransactionRefusal, toEngineError } from './transactions/refusal.ts';
import type { Transactions } from './transactions.ts';

export interface TransactionContext {
  readonly deps: WorkDeps;
  readonly bases: BaseStates;
  readonly manager: TransactionManager;
  /** Git directory that holds the revisions' objects. */
  readonly objectsGitDir: string;
  /** Who commits, for `sign_off`; as git knows him now. */
  readonly identity: () => Promise<{ readonly name: string; readonly email: string } | null>;
}

/** Binds the transaction manager to proposals, tasks and events: their rows move in the commits that begin and end it. */
export function createTransactions(context: TransactionContext): Transactions {
  const { deps, manager, objectsGitDir } = context;
  return {
    async apply(proposal, revision, run, signal) {
      const task = deps.store.read((rows) => rows.tasks.get(proposal.taskId));
      if (!task) return err(notFound('task', proposal.taskId));
      const id = await nextTransaction(deps);
      if (!id.ok) return id;
      const settings = deps.settings.current();
      const trailers = await trailersOf(context, proposal, revision, id.value);
      const applied = await within(() =>
        manager.apply(
          {
            transactionId: id.value,
            proposalId: proposal.id,
            revision: revision.number,
            targetRef: run.targetRef,
            baseCommit: revision.baseCommit,
            baseTree: revision.baseTree,
            resultTree: revision.resultTree,
            objectsGitDir,
            commit: settings.commit,
            message: commitMessage({ proposal, task, run }, settings.messageTemplate),
            trailers,
            begin: (scope) => beginApply(deps, scope, proposal, revision, id.value),
            settle: (scope, outcome) => settle(deps, scope, outcome),
          },
          signal,
        ),
      );
      return applied.ok ? ok(applied.value.record.id) : applied;
    },

    async rollback(transactionId, reason, signal) {
      const found = deps.store.read((rows) => {
        const reverts = rows.transactions.get(transactionId as TransactionId);
        const proposal = reverts && rows.proposals.get(reverts.proposalId);
        return proposal ? { reverts, proposal } : null;
      });
      if (!found) return err(notFound('transaction', transactionId));
      const { reverts, proposal } = found;
      if (reverts.kind !== 'apply') {
        return err(
          engineError(
            'illegal_transition',
            `${reverts.id} is a rollback itself`,
            'roll back the transaction of a proposal; to bring a change back, propose it again',
          ),
        );
      }
      const id = await nextTransaction(deps);
      if (!id.ok) return id;
      const signed = await signOff(context);
      const reverted = await within(() =>
        manager.rollback(
          {
            transactionId: id.value,
            proposalId: proposal.id,
            revision: reverts.revision,
            reverts,
            message: rollbackMessage(
              { title: proposal.title, transactionId: reverts.id, commit: reverts.newCommit },
              reason,
            ),
            trailers: [
              ['Roundtable-Proposal', proposal.id],
              ['Roundtable-Transaction', id.value],
              ['Roundtable-Reverts', reverts.id],
              ['Roundtable-Event', anchor(deps)],
              ...signed,
            ],
            begin: (scope) => recordBegin(scope, id.value, proposal, 'rollback', { reverts: reverts.id, reason }),
            settle: (scope, outcome) => settle(deps, scope, outcome),
          },
          signal,
        ),
      );
      return reverted.ok ? ok(reverted.value.record.id) : reverted;
    },

    async recover() {
      const summary = await manager.recover((scope, outcome) => settle(deps, scope, outcome));
      for (const blocked of summary.blocked)
        deps.warn(`${blocked.transactionId} can't be recovered yet: ${blocked.reason}`);
      for (const file of summary.kept) deps.warn(`an edit of yours was found in a leftover and kept: ${file}`);
    },
  };
}

async function within<T>(work: () => Promise<Result<T, TransactionRefusal>>): Promise<Result<T, EngineError>> {
  try {
    const result = await work();
    return result.ok ? result : err(toEngineError(result.error));
  } catch (thrown) {
    const refusal = refusalOf(thrown);
    if (refusal) return err(refusal);
    throw thrown;
  }
}

async function nextTransaction(deps: WorkDeps): Promise<Result<TransactionId, EngineError>> {
  return decide(deps.store, (scope) => scope.nextId('transaction') as TransactionId);
}

/** The gates hold still, in the very commit that begins the transaction; otherwise nothing begins. */
function beginApply(
  deps: WorkDeps,
  scope: WriteScope,
  proposal: ProposalRecord,
  revision: RevisionRecord,
  id: TransactionId,
): void {
  const row = scope.proposals.get(proposal.id) ?? refuse(notFound('proposal', proposal.id));
  if (row.currentRevision !== revision.number) {
    refuse(engineError('revision_stale', `${row.id} is at revision ${row.currentRevision} by now`, 'look at it again'));
  }
  // The manager has compared the base under its own lock: what is left is everything else.
  const evaluated = evaluateGates(scope, deps.settings.current(), deps.matches, row, { kind: 'fresh' });
  if (!evaluated || !allPassed(evaluated.gates)) {
    const open = evaluated?.gates.filter((gate) => gate.status !== 'passed' && gate.status !== 'overridden') ?? [];
    refuse(
      engineError(
        'gates_not_passed',
        open.map((gate) => `${gate.id}: ${gate.detail}`).join('; '),
        open[0]?.remedy ?? '',
        { gates: evaluated?.gates ?? [] },
      ),
    );
  }
  mustMove(scope, 'proposal', row, deps.clock.now(), {
    to: 'applying',
    by: 'system',
    data: { transaction: id, revision: revision.number },
  });
  recordBegin(scope, id, row, 'apply', { revision: revision.number });
}

function recordBegin(
  scope: WriteScope,
  id: TransactionId,
  proposal: ProposalRecord,
  kind: 'apply' | 'rollback',
  data: Record<string, unknown>,
): void {
  scope.append({
    type: 'transaction.prepared',
    principal: 'system',
    entity: 'transaction',
    entityId: id,
    runId: proposal.runId,
    data: { kind, proposalId: proposal.id, ...data },
  });
}

/** Everything that follows from the end of a transaction, in the commit that records the end. */
function settle(deps: WorkDeps, scope: WriteScope, { record, outcome, recovered, left }: TransactionOutcome): void {
  const now = deps.clock.now();
  const proposal = scope.proposals.get(record.proposalId);
  scope.append({
    type: `transaction.${outcome}`,
    principal: 'system',
    entity: 'transaction',
    entityId: record.id,
    runId: proposal?.runId ?? null,
    data: {
      kind: record.kind,
      proposalId: record.proposalId,
      newCommit: record.newCommit,
      recovered,
      left,
      reason: record.statusReason,
    },
  });
  if (!proposal) return;
  if (record.kind === 'apply') settleApply(scope, proposal, record, outcome, now);
  else if (outcome === 'applied') settleRollback(scope, proposal, record, now);
}

function settleApply(
  scope: WriteScope,
  proposal: ProposalRecord,
  record: TransactionRecord,
  outcome: 'applied' | 'aborted',
  now: string,
): void {
  if (proposal.status !== 'applying') return;
  if (outcome === 'aborted') {
    mustMove(scope, 'proposal', proposal, now, {
      to: 'approved',
      by: 'system',
      reason: record.statusReason ?? 'it could not be applied',
    });
    return;
  }
  mustMove(scope, 'proposal', proposal, now, {
    to: 'accepted',
    by: 'system',
    reason: null,
    data: { transaction: record.id, commit: record.newCommit },
  });
  const task = scope.tasks.get(proposal.taskId);
  if (task?.status === 'in_review')
    mustMove(scope, 'task', task, now, { to: 'done', by: 'system', reason: `${proposal.id} landed in ${record.id}` });
  releaseTaskClaims(scope, proposal.taskId, now, 'system');
}

function settleRollback(scope: WriteScope, proposal: ProposalRecord, record: TransactionRecord, now: string): void {
  const original = record.revertsId === null ? null : scope.transactions.get(record.revertsId);
  if (original?.status === 'applied') {
    scope.transactions.update({ ...original, status: 'reverted', statusReason: `reverted by ${record.id}` });
    scope.append({
      type: 'transaction.reverted',
      principal: 'system',
      entity: 'transaction',
      entityId: original.id,
      runId: proposal.runId,
      data: { by: record.id },
    });
  }
  if (proposal.status === 'accepted')
    mustMove(scope, 'proposal', proposal, now, { to: 'reverted', by: 'system', reason: `rolled back by ${record.id}` });
  const run = scope.runs.get(proposal.runId);
  const task = scope.tasks.get(proposal.taskId);
  if (task?.status === 'done' && run && run.status !== 'completed' && run.status !== 'failed') {
    mustMove(scope, 'task', task, now, {
      to: 'open',
      by: 'system',
      reason: `${proposal.id} was rolled back`,
      set: { feedback: `Your change ${proposal.id} had landed and was rolled back by the operator.`, attempts: 0 },
    });
  }
}

async function trailersOf(
  context: TransactionContext,
  proposal: ProposalRecord,
  revision: RevisionRecord,
  id: TransactionId,
): Promise<readonly (readonly [string, string])[]> {
  const approvers = context.deps.store
    .read((rows) => rows.approvals.ofRevision(proposal.id, revision.number))
    .map((row) => row.principal);
  return [
    ['Roundtable-Proposal', `${proposal.id} revision ${revision.number}`],
    ['Roundtable-Transaction', id],
    ['Roundtable-Agent', proposal.agentId],
    ...[...new Set(approvers)].map((who): [string, string] => ['Roundtable-Reviewed-By', who]),
    ['Roundtable-Event', anchor(context.deps)],
    ...(await signOff(context)),
  ];
}

/** Head of the event chain: a later check finds a log that was cut off behind it. */
function anchor(deps: WorkDeps): string {
  return deps.store.read((rows) => `${rows.events.lastId()}:${rows.events.lastDigest()}`);
}

async function signOff(context: TransactionContext): Promise<readonly (readonly [string, string])[]> {
  if (!context.deps.settings.current().signOff) return [];
  const who = await context.identity();
  return who === null ? [] : [['Signed-off-by', `${who.name} <${who.email}>`]];
}
