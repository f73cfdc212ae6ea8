import type { EngineError } from '../domain/errors.ts';
import type { RunId } from '../domain/ids.ts';
import type { RunStatus } from '../domain/lifecycle.ts';
import type { Principal } from '../domain/principal.ts';
import type { ApproveMode, RunRecord } from '../domain/records.ts';
import type { Result } from '../domain/result.ts';
import type { WriteScope } from '../ports/store.ts';
import { type DecisionDeps, decide, notFound, orRefuse, refuse } from './deps.ts';
import { move, mustMove } from './moves.ts';

export async function pauseRun(
  deps: DecisionDeps,
  runId: string,
  by: Principal,
): Promise<Result<Record<string, never>, EngineError>> {
  return steer(deps, runId, 'paused', by, 'paused by the operator');
}

/** Takes no new work, lets sessions finish, then stops. */
export async function drainRun(
  deps: DecisionDeps,
  runId: string,
  by: Principal,
  reason = 'drained by the operator',
): Promise<Result<Record<string, never>, EngineError>> {
  return steer(deps, runId, 'draining', by, reason);
}

/**
 * Makes a paused, blocked or stopped run active again, with new bounds where given. Its blocked tasks are open again: what
 * stood in their way is the operator's to judge, and nothing else brings them back.
 */
export async function resumeRun(
  deps: DecisionDeps,
  runId: string,
  change: {
    readonly approveMode?: ApproveMode | undefined;
    readonly maxIterations?: number | null | undefined;
    readonly timeoutMs?: number | null | undefined;
  },
  by: Principal,
): Promise<Result<Record<string, never>, EngineError>> {
  return decide(deps.store, (scope) => {
    const run = scope.runs.get(runId as RunId) ?? refuse(notFound('run', runId));
    const bounds: Partial<RunRecord> = {
      ...(change.approveMode === undefined ? {} : { approveMode: change.approveMode }),
      // A bound counts from the resume on, or a run that ended at its limit could never go on.
      maxIterations:
        change.maxIterations === undefined || change.maxIterations === null
          ? null
          : run.iterations + change.maxIterations,
      deadlineAt:
        change.timeoutMs === undefined || change.timeoutMs === null
          ? null
          : new Date(deps.clock.nowMs() + change.timeoutMs).toISOString(),
    };
    reopenBlockedTasks(deps, scope, run, by);
    if (run.status === 'active') {
      scope.runs.update({ ...run, ...bounds, updatedAt: deps.clock.now() });
      scope.append({ type: 'run.bounds', principal: by, entity: 'run', entityId: run.id, runId: run.id, data: bounds });
      return {};
    }
    orRefuse(move(scope, 'run', run, deps.clock.now(), { to: 'active', by, set: bounds }));
    return {};
  });
}

function reopenBlockedTasks(deps: DecisionDeps, scope: WriteScope, run: RunRecord, by: Principal): void {
  for (const task of scope.tasks.ofRun(run.id)) {
    if (task.status !== 'blocked') continue;
    mustMove(scope, 'task', task, deps.clock.now(), {
      to: 'open',
      by,
      reason: `${run.id} was resumed`,
      set: { notBefore: null },
    });
  }
}

async function steer(
  deps: DecisionDeps,
  runId: string,
  to: RunStatus,
  by: Principal,
  reason: string,
): Promise<Result<Record<string, never>, EngineError>> {
  return decide(deps.store, (scope) => {
    const run = scope.runs.get(runId as RunId) ?? refuse(notFound('run', runId));
    orRefuse(move(scope, 'run', run, deps.clock.now(), { to, by, reason }));
    return {};
  });
}
