import type { BaseStates } from '../app/base-states.ts';
import { decide, fromRepository } from '../app/deps.ts';
import { settledProposal } from '../app/end-task.ts';
import { type Evaluated, evaluateGates } from '../app/evaluate-gates.ts';
import { mustMove } from '../app/moves.ts';
import { type EngineError, engineError } from '../domain/errors.ts';
import type { Gate } from '../domain/gate.ts';
import { allPassed, type BaseState, machinePending } from '../domain/gates.ts';
import type { ApprovalId, ObjectId, ProposalId, TransactionId } from '../domain/ids.ts';
import type { ProposalRecord, RevisionRecord, RunRecord } from '../domain/records.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { BuiltRevision } from '../ports/private-repository.ts';
import type { Dependencies } from './dependencies.ts';
import type { WorkDeps } from './deps.ts';
import { runTest } from './test-runner.ts';
import type { Transactions } from './transactions.ts';

export interface Advanced {
  readonly gates: readonly Gate[];
  /** The transaction that landed it in this call; null when it did not land now. */
  readonly transactionId: TransactionId | null;
  /** Why it did not land although every gate holds. */
  readonly refusal: EngineError | null;
}

export interface AdvanceOptions {
  /** The operator asked for it now: also under `transactions.apply: manual`, and again after a refusal. */
  readonly asked: boolean;
  /** Ends a test early and begins nothing further; a transaction under way goes on to its end. */
  readonly stop: AbortSignal;
}

export interface Advancer {
  /** Moves one proposal as far as machines can: tests, review, approval, graft, transaction. One at a time per proposal. */
  advance(proposalId: ProposalId, options: AdvanceOptions): Promise<Result<Advanced, EngineError>>;
  /** True while a call for it is under way. */
  busy(proposalId: string): boolean;
  anyBusy(): boolean;
}

/** Rounds of one call; each makes progress (a test, a graft, a move), so this only bounds a target that never rests. */
const MAX_ROUNDS = 20;

export function createAdvancer(
  deps: WorkDeps,
  bases: BaseStates,
  dependencies: Dependencies,
  transactions: Transactions,
): Advancer {
  const underWay = new Map<string, Promise<unknown>>();
  /** Refusals of the transaction manager by proposal and revision: not tried again until the operator asks. */
  const refusals = new Map<string, EngineError>();

  async function advance(proposalId: ProposalId, options: AdvanceOptions): Promise<Result<Advanced, EngineError>> {
    // Looked at again after each wait: of two that waited for the same one, only one goes on.
    while (underWay.has(proposalId)) await underWay.get(proposalId)?.catch(() => undefined);
    const work = rounds(proposalId, options);
    underWay.set(proposalId, work);
    try {
      return await work;
    } finally {
      if (underWay.get(proposalId) === work) underWay.delete(proposalId);
    }
  }

  async function rounds(proposalId: ProposalId, options: AdvanceOptions): Promise<Result<Advanced, EngineError>> {
    let landed: TransactionId | null = null;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const seen = await look(deps, bases, proposalId, deps.lifetime);
      if (!seen.ok) return seen;
      const { proposal, run, base, evaluated } = seen.value;
      const answer = (refusal: EngineError | null): Result<Advanced, EngineError> =>
        ok({ gates: evaluated.gates, transactionId: landed, refusal });
      if (
        settledProposal(proposal.status) ||
        proposal.status === 'draft' ||
        proposal.status === 'revision_requested' ||
        proposal.status === 'applying'
      )
        return answer(null);
      if (options.stop.aborted) return answer(null);

      const tested = await runMissingTests(deps, dependencies, proposal, evaluated, options.stop);
      if (!tested.ok) return tested;
      if (tested.value > 0) continue;
      if (machinePending(evaluated.gates)) return answer(null);

      if (proposal.status === 'pending') {
        await step(deps, proposal, 'in_review');
        continue;
      }
      if (!allPassed(evaluated.gates)) {
        if (proposal.status !== 'approved') return answer(null);
        await step(deps, proposal, 'pending', 'a gate no longer holds');
        continue;
      }
      if (base.kind === 'graftable') {
        const grafted = await graft(deps, proposal, evaluated.revision, base.targetCommit as ObjectId, deps.lifetime);
        if (!grafted.ok) return grafted;
        continue;
      }
      if (proposal.status === 'in_review') {
        await step(deps, proposal, 'approved');
        continue;
      }
      const key = `${proposal.id}/${evaluated.revision.number}`;
      if (!options.asked && deps.settings.current().applyMode === 'manual') return answer(null);
      const before = refusals.get(key);
      if (before && !options.asked) return answer(before);
      const applied = await transactions.apply(proposal, evaluated.revision, run, deps.lifetime);
      if (applied.ok) {
        refusals.delete(key);
        landed = applied.value;
        continue;
      }
      // The target moved between the look and the lock: look again.
      if (applied.error.code === 'base_moved') continue;
      refusals.set(key, applied.error);
      await noteRefusal(deps, proposal, applied.error);
      return answer(applied.error);
    }
    return err(
      engineError(
        'base_moved',
        `${proposalId} could not be brought to rest in ${MAX_ROUNDS} rounds`,
        'the target keeps moving; ask again when it rests',
      ),
    );
  }

  return { advance, busy: (id) => underWay.has(id), anyBusy: () => underWay.size > 0 };
}

/** An approved proposal that could not be applied waits for the operator, and says why. */
async function noteRefusal(deps: WorkDeps, proposal: ProposalRecord, error: EngineError): Promise<void> {
  if (error.code === 'cancelled') return;
  const noted = await decide(deps.store, (scope) => {
    const row = scope.proposals.get(proposal.id);
    if (row?.status !== 'approved') return;
    const statusReason = `${error.message}; ${error.remedy}`;
    if (row.statusReason === statusReason) return;
    scope.proposals.update({ ...row, statusReason, updatedAt: deps.clock.now() });
    scope.append({
      type: 'proposal.apply_refused',
      principal: 'system',
      entity: 'proposal',
      entityId: row.id,
      runId: row.runId,
      data: {
        revision: row.currentRevision,
        code: error.code,
        reason: error.message,
        paths: error.details?.paths ?? [],
      },
    });
  });
  if (!noted.ok) deps.warn(`the refusal to apply ${proposal.id} could not be recorded: ${noted.error.message}`);
}

interface Seen {
  readonly proposal: ProposalRecord;
  readonly run: RunRecord;
  readonly base: BaseState;
  readonly evaluated: Evaluated;
}

async function look(
  deps: WorkDeps,
  bases: BaseStates,
  id: ProposalId,
  signal: AbortSignal,
): Promise<Result<Seen, EngineError>> {
  const gone = engineError('not_found', `there is no proposal ${id}`, 'list them with `roundtable proposals list`');
  const target = deps.store.read((rows) => {
    const proposal = rows.proposals.get(id);
    const revision = proposal && rows.proposals.revision(id, proposal.currentRevision);
    const run = proposal && rows.runs.get(proposal.runId);
    return revision && run ? { revision, run } : null;
  });
  if (!target) return err(gone);
  const base = await bases.of(target.revision, target.run.targetRef, signal);
  return deps.store.read((rows) => {
    const proposal = rows.proposals.get(id);
    const run = proposal && rows.runs.get(proposal.runId);
    // A new revision meanwhile: its base is judged in the next round.
    const fits = proposal?.currentRevision === target.revision.number;
    const evaluated =
      proposal &&
      evaluateGates(
        rows,
        deps.settings.current(),
        deps.matches,
        proposal,
        fits ? base : { kind: 'unknown', reason: 'a new revision came in' },
      );
    return proposal && run && evaluated ? ok({ proposal, run, base, evaluated }) : err(gone);
  });
}

/** Runs each required command that has no verdict on this tree in this image yet; answers how many it ran. */
async function runMissingTests(
  deps: WorkDeps,
  dependencies: Dependencies,
  proposal: ProposalRecord,
  evaluated: Evaluated,
  stop: AbortSignal,
): Promise<Result<number, EngineError>> {
  const { revision, requiredTests, testImage } = evaluated;
  if (!revision.policy.testsRequired || testImage === null) return ok(0);
  // A change outside the scope is not worth a test run: it can't land.
  if (evaluated.gates.some((gate) => gate.id === 'scope' && gate.status === 'failed')) return ok(0);
  const known = deps.store.read((rows) => rows.testRuns.ofRevision(proposal.id, revision.number));
  let ran = 0;
  for (const argv of requiredTests) {
    const key = JSON.stringify(argv);
    const has = known.some(
      (run) =>
        run.status !== 'cancelled' &&
        run.resultTree === revision.resultTree &&
        run.imageDigest === testImage &&
        JSON.stringify(run.argv) === key,
    );
    if (has) continue;
    const result = await runTest(deps, dependencies, { proposal, revision, argv, image: testImage, stop });
    if (!result.ok) return result;
    ran += 1;
    // The first failure settles the gate.
    if (result.value.status !== 'passed') break;
  }
  return ok(ran);
}

async function step(
  deps: WorkDeps,
  proposal: ProposalRecord,
  to: 'in_review' | 'approved' | 'pending',
  reason: string | null = null,
): Promise<void> {
  await decide(deps.store, (scope) => {
    const row = scope.proposals.get(proposal.id);
    if (row?.status !== proposal.status || row.currentRevision !== proposal.currentRevision) return;
    mustMove(scope, 'proposal', row, deps.clock.now(), {
      to,
      by: 'system',
      reason,
      data: { revision: row.currentRevision },
    });
  });
}

/**
 * The same change on the new base as a new revision: approvals carry over as new records that name the
 * original, as long as the policy is the same; tests run again on the new tree.
 */
async function graft(
  deps: WorkDeps,
  proposal: ProposalRecord,
  old: RevisionRecord,
  newBase: ObjectId,
  signal: AbortSignal,
): Promise<Result<void, EngineError>> {
  const { maxFileBytes, maxChangedFiles } = deps.settings.current();
  const made = await deps.revisions.graft(
    { oldBase: old.baseCommit, resultTree: old.resultTree, newBase, limits: { maxFileBytes, maxChangedFiles } },
    signal,
  );
  if (!made.ok)
    return err(
      made.error.code === 'revision_refused'
        ? engineError('revision_refused', made.error.message, made.error.remedy)
        : fromRepository(made.error),
    );
  if (made.value === null) return ok(undefined);
  const policy = await deps.policies.forBase(newBase, signal);
  if (!policy.ok) return policy;
  const built: BuiltRevision = made.value;
  const kept = await deps.revisions.keep(proposal.id, old.number + 1, built, signal);
  if (!kept.ok) return err(fromRepository(kept.error));
  return decide(deps.store, (scope) => {
    const now = deps.clock.now();
    const row = scope.proposals.get(proposal.id);
    if (row?.currentRevision !== old.number || (row.status !== 'in_review' && row.status !== 'approved')) return;
    const number = old.number + 1;
    scope.proposals.insertRevision({
      ...old,
      number,
      source: 'graft',
      parent: old.number,
      baseCommit: built.baseCommit,
      baseTree: built.baseTree,
      resultTree: built.resultTree,
      patchDigest: built.patchDigest,
      changes: built.changes.map((change) => ({ ...change })),
      additions: built.additions,
      deletions: built.deletions,
      highRiskPaths: built.highRiskPaths,
      policyDigest: policy.value.digest,
      policy: policy.value.policy,
      createdAt: now,
    });
    scope.proposals.update({ ...row, currentRevision: number, updatedAt: now });
    scope.append({
      type: 'proposal.grafted',
      principal: 'system',
      entity: 'proposal',
      entityId: row.id,
      runId: row.runId,
      data: { revision: number, from: old.number, baseCommit: built.baseCommit, resultTree: built.resultTree },
    });
    if (policy.value.digest !== old.policyDigest) return;
    for (const approval of scope.approvals.ofRevision(row.id, old.number)) {
      scope.approvals.insert({
        ...approval,
        id: scope.nextId('approval') as ApprovalId,
        revision: number,
        carriedFrom: approval.carriedFrom ?? old.number,
        at: now,
      });
      scope.append({
        type: 'proposal.approval_carried',
        principal: 'system',
        entity: 'proposal',
        entityId: row.id,
        runId: row.runId,
        data: { revision: number, from: old.number, approval: approval.id },
      });
    }
  });
}
