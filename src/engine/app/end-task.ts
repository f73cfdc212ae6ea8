import { type EngineError, engineError } from '../domain/errors.ts';
import type { ClaimId, TaskId } from '../domain/ids.ts';
import { isTerminal } from '../domain/lifecycle.ts';
import type { Principal } from '../domain/principal.ts';
import type { TaskRecord } from '../domain/records.ts';
import type { Result } from '../domain/result.ts';
import type { WriteScope } from '../ports/store.ts';
import { type DecisionDeps, decide, notFound, orRefuse, refuse } from './deps.ts';
import { move, mustMove } from './moves.ts';

/** Cancels a task: its open proposal is withdrawn, its claims are released. A live session must be stopped by the caller. */
export async function cancelTask(
  deps: DecisionDeps,
  taskId: string,
  reason: string | null,
  by: Principal,
): Promise<Result<Record<string, never>, EngineError>> {
  return decide(deps.store, (scope) => {
    const task = scope.tasks.get(taskId as TaskId) ?? refuse(notFound('task', taskId));
    orRefuse(
      move(scope, 'task', task, deps.clock.now(), {
        to: 'cancelled',
        by,
        reason: reason ?? 'cancelled by the operator',
      }),
    );
    withdrawProposals(deps, scope, task, by);
    releaseTaskClaims(scope, task.id, deps.clock.now(), by);
    return {};
  });
}

/** Opens a proposed task, or closes one whose session succeeded without changing anything. */
export async function confirmTask(
  deps: DecisionDeps,
  taskId: string,
  by: Principal,
): Promise<Result<Record<string, never>, EngineError>> {
  return decide(deps.store, (scope) => {
    const task = scope.tasks.get(taskId as TaskId) ?? refuse(notFound('task', taskId));
    const now = deps.clock.now();
    if (task.status === 'proposed') {
      orRefuse(move(scope, 'task', task, now, { to: 'open', by }));
      return {};
    }
    const open = scope.proposals.ofTask(task.id).filter((proposal) => !settledProposal(proposal.status));
    if (task.status === 'in_review' && open.length === 0) {
      orRefuse(move(scope, 'task', task, now, { to: 'done', by, reason: 'confirmed without a change' }));
      releaseTaskClaims(scope, task.id, now, by);
      return {};
    }
    return refuse(
      engineError(
        'illegal_transition',
        `task ${task.id} is ${task.status}; there is nothing to confirm`,
        'only a proposed task, or one whose session changed nothing, can be confirmed',
      ),
    );
  });
}

export function settledProposal(status: string): boolean {
  return status === 'accepted' || isTerminal('proposal', status as 'rejected');
}

export function releaseTaskClaims(scope: WriteScope, taskId: TaskId, now: string, by: Principal): void {
  for (const claim of scope.claims.active()) {
    if (claim.taskId !== taskId) continue;
    const current = scope.claims.get(claim.id as ClaimId);
    if (current) mustMove(scope, 'claim', current, now, { to: 'released', by });
  }
}

function withdrawProposals(deps: DecisionDeps, scope: WriteScope, task: TaskRecord, by: Principal): void {
  for (const proposal of scope.proposals.ofTask(task.id)) {
    if (settledProposal(proposal.status)) continue;
    if (proposal.status === 'applying') {
      refuse(
        engineError(
          'illegal_transition',
          `proposal ${proposal.id} is being applied`,
          'wait until it has landed, then roll it back',
        ),
      );
    }
    mustMove(scope, 'proposal', proposal, deps.clock.now(), {
      to: 'withdrawn',
      by,
      reason: `task ${task.id} was cancelled`,
    });
  }
}
