import { type EngineError, engineError } from '../domain/errors.ts';
import type { Gate } from '../domain/gate.ts';
import type { BaseState } from '../domain/gates.ts';
import type { ApprovalId, ProposalId } from '../domain/ids.ts';
import type { Principal } from '../domain/principal.ts';
import type { ApprovalRecord, ProposalRecord } from '../domain/records.ts';
import { err, type Result } from '../domain/result.ts';
import type { WriteScope } from '../ports/store.ts';
import type { BaseStates } from './base-states.ts';
import { type DecisionDeps, decide, notFound, orRefuse, refuse } from './deps.ts';
import { releaseTaskClaims, settledProposal } from './end-task.ts';
import { evaluateGates } from './evaluate-gates.ts';
import { move, mustMove } from './moves.ts';

export interface Decision {
  readonly proposalId: string;
  /** The revision that the operator looked at; a decision about another one is refused. */
  readonly revision: number;
  readonly origin: ApprovalRecord['origin'];
}

/**
 * Records the operator's approval of exactly one revision. A gate that has failed refuses it: nothing may land later
 * by surprise on an approval given while it could not land.
 */
export async function approveProposal(
  deps: DecisionDeps,
  bases: BaseStates,
  decision: Decision & { readonly note: string | null },
  by: Principal,
  signal: AbortSignal,
): Promise<Result<{ readonly gates: readonly Gate[] }, EngineError>> {
  const base = await baseOf(deps, bases, decision.proposalId, signal);
  if (!base.ok) return base;
  return decide(deps.store, (scope) => {
    const proposal = currentProposal(scope, decision);
    const before =
      evaluateGates(scope, deps.settings.current(), deps.matches, proposal, base.value) ??
      refuse(notFound('proposal', proposal.id));
    const failed = before.gates.filter((gate) => gate.status === 'failed');
    if (failed.length > 0) {
      refuse(
        engineError(
          'gates_not_passed',
          `${proposal.id} revision ${decision.revision} can't be approved: ${failed.map((gate) => `${gate.id}: ${gate.detail}`).join('; ')}`,
          failed[0]?.remedy ?? '',
          { gates: before.gates },
        ),
      );
    }
    const known = scope.approvals.ofRevision(proposal.id, decision.revision).some((row) => row.principal === by);
    if (!known) {
      const approval: ApprovalRecord = {
        id: scope.nextId('approval') as ApprovalId,
        proposalId: proposal.id,
        revision: decision.revision,
        principal: by,
        origin: decision.origin,
        carriedFrom: null,
        note: decision.note,
        at: deps.clock.now(),
      };
      scope.approvals.insert(approval);
      scope.append({
        type: 'proposal.approval',
        principal: by,
        entity: 'proposal',
        entityId: proposal.id,
        runId: proposal.runId,
        data: { revision: decision.revision, origin: decision.origin, patchDigest: before.revision.patchDigest },
      });
    }
    const after = evaluateGates(scope, deps.settings.current(), deps.matches, proposal, base.value);
    return { gates: after?.gates ?? [] };
  });
}

/** Rejects the proposal; its task gets another attempt while attempts are left, else it has failed. */
export async function rejectProposal(
  deps: DecisionDeps,
  decision: Decision & { readonly reason: string },
  by: Principal,
): Promise<Result<Record<string, never>, EngineError>> {
  return decide(deps.store, (scope) => {
    const proposal = currentProposal(scope, decision);
    const now = deps.clock.now();
    orRefuse(
      move(scope, 'proposal', proposal, now, {
        to: 'rejected',
        by,
        reason: decision.reason,
        data: { revision: decision.revision, origin: decision.origin },
      }),
    );
    const task = scope.tasks.get(proposal.taskId);
    if (task?.status !== 'in_review') return {};
    if (task.attempts < deps.settings.current().maxAttempts) {
      const again = mustMove(scope, 'task', task, now, {
        to: 'in_progress',
        by,
        reason: `${proposal.id} was rejected: ${decision.reason}`,
      });
      mustMove(scope, 'task', again, now, {
        to: 'open',
        by,
        reason: again.statusReason,
        set: { feedback: `Your proposal ${proposal.id} was rejected: ${decision.reason}` },
      });
    } else {
      mustMove(scope, 'task', task, now, {
        to: 'failed',
        by,
        reason: `${proposal.id} was rejected and no attempts are left`,
      });
    }
    releaseTaskClaims(scope, task.id, now, by);
    return {};
  });
}

/** Sends the proposal back to its agent with the operator's words; the next session makes a new revision of it. */
export async function requestChanges(
  deps: DecisionDeps,
  decision: Decision & { readonly message: string },
  by: Principal,
): Promise<Result<Record<string, never>, EngineError>> {
  return decide(deps.store, (scope) => {
    const proposal = currentProposal(scope, decision);
    const now = deps.clock.now();
    const task = scope.tasks.get(proposal.taskId);
    orRefuse(
      move(scope, 'proposal', proposal, now, {
        to: 'revision_requested',
        by,
        reason: decision.message,
        data: { revision: decision.revision, origin: decision.origin },
      }),
    );
    if (task?.status === 'in_review') {
      mustMove(scope, 'task', task, now, {
        to: 'in_progress',
        by,
        reason: `changes requested on ${proposal.id}`,
        set: {
          feedback: `The operator asks for changes to ${proposal.id} revision ${decision.revision}:\n\n${decision.message}`,
          notBefore: null,
        },
      });
    }
    return {};
  });
}

async function baseOf(
  deps: DecisionDeps,
  bases: BaseStates,
  proposalId: string,
  signal: AbortSignal,
): Promise<Result<BaseState, EngineError>> {
  const found = deps.store.read((rows) => {
    const proposal = rows.proposals.get(proposalId as ProposalId);
    const revision = proposal && rows.proposals.revision(proposal.id, proposal.currentRevision);
    const run = proposal && rows.runs.get(proposal.runId);
    return revision && run ? { revision, run } : null;
  });
  if (!found) return err(notFound('proposal', proposalId));
  return { ok: true, value: await bases.of(found.revision, found.run.targetRef, signal) };
}

function currentProposal(scope: WriteScope, decision: Decision): ProposalRecord {
  const proposal =
    scope.proposals.get(decision.proposalId as ProposalId) ?? refuse(notFound('proposal', decision.proposalId));
  if (settledProposal(proposal.status) || proposal.status === 'applying') {
    refuse(
      engineError(
        'illegal_transition',
        `proposal ${proposal.id} is ${proposal.status}`,
        'nothing is left to decide on it',
      ),
    );
  }
  if (proposal.currentRevision !== decision.revision) {
    refuse(
      engineError(
        'revision_stale',
        `${proposal.id} is at revision ${proposal.currentRevision} by now; the decision was about revision ${decision.revision}`,
        `look at it again with \`roundtable proposals show ${proposal.id} --diff\``,
      ),
    );
  }
  return proposal;
}
