import type { EngineError } from '../domain/errors.ts';
import type { RunId } from '../domain/ids.ts';
import type { RunStatus } from '../domain/lifecycle.ts';
import type { Principal } from '../domain/principal.ts';
import type { ApproveMode, RunRecord } from '../domain/records.ts';
import type { Result } from '../domain/result.ts';
import { type DecisionDeps, decide, notFound, orRefuse, refuse } from './deps.ts';
import { move } from './moves.ts';

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

/** Makes a paused, blocked or stopped run active again, with new bounds where given. */
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
    if (run.status === 'active') {
      scope.runs.update({ ...run, ...bounds, updatedAt: deps.clock.now() });
      scope.append({ type: 'run.bounds', principal: by, entity: 'run', entityId: run.id, runId: run.id, data: bounds });
      return {};
    }
    orRefuse(move(scope, 'run', run, deps.clock.now(), { to: 'active', by, set: bounds }));
    return {};
  });
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
