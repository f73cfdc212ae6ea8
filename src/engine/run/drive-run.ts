import { drainRun } from '../app/steer-run.ts';
import type { EngineError } from '../domain/errors.ts';
import type { RunId } from '../domain/ids.ts';
import type { RunRecord } from '../domain/records.ts';
import type { WorkDeps } from './deps.ts';
import type { EngineOwner } from './engine-owner.ts';
import { LIMIT_REASON } from './rest-runs.ts';

export interface DriveOutcome {
  readonly exit: 0 | 1 | 3 | 4 | 5;
  readonly reason: string;
}

/**
 * Waits until a run has come to rest: completed, waiting for the operator, stopped at a limit, or kept from working by
 * the container engine. A signal drains it: sessions end, their work is kept, the run can be resumed.
 */
export async function driveRun(
  deps: WorkDeps,
  owner: EngineOwner,
  runId: RunId,
  signal: AbortSignal,
): Promise<DriveOutcome> {
  const unusable = await owner.probeContainers();
  if (unusable && needsSessions(deps, runId)) return engineGone(unusable);
  const settled = await whenSettled(deps, owner, runId, signal);
  if (settled) return settled;
  await drainRun(deps, runId, 'operator', 'interrupted');
  await owner.stopRun(runId);
  owner.wake();
  await whenSettled(deps, owner, runId, AbortSignal.timeout(30_000));
  return { exit: 1, reason: 'interrupted; the run can be resumed' };
}

async function whenSettled(
  deps: WorkDeps,
  owner: EngineOwner,
  runId: RunId,
  signal: AbortSignal,
): Promise<DriveOutcome | null> {
  return new Promise((resolve) => {
    const done = (outcome: DriveOutcome | null): void => {
      subscription.close();
      clearInterval(timer);
      signal.removeEventListener('abort', onAbort);
      resolve(outcome);
    };
    const look = (): void => {
      const run = deps.store.read((rows) => rows.runs.get(runId));
      const outcome =
        run === null ? { exit: 1 as const, reason: `there is no run ${runId}` } : outcomeOf(deps, owner, run);
      if (outcome) done(outcome);
    };
    const onAbort = (): void => done(null);
    const subscription = deps.store.subscribe(look);
    const timer = setInterval(look, 500);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    else look();
  });
}

function outcomeOf(deps: WorkDeps, owner: EngineOwner, run: RunRecord): DriveOutcome | null {
  const problem = owner.containerProblem();
  if (problem && owner.liveSessions().length === 0 && needsSessions(deps, run.id)) return engineGone(problem);
  const reason = run.statusReason ?? run.status;
  switch (run.status) {
    case 'completed': {
      const failed = deps.store.read((rows) => rows.tasks.ofRun(run.id).some((task) => task.status === 'failed'));
      return { exit: failed ? 4 : 0, reason };
    }
    case 'blocked':
      return { exit: 3, reason };
    case 'stopped':
      return { exit: reason.startsWith(LIMIT_REASON) ? 5 : 3, reason };
    case 'failed':
      return { exit: 1, reason };
    case 'active':
    case 'paused':
    case 'draining':
      return null;
    default: {
      const never: never = run.status;
      throw new Error(`unknown run status ${String(never)}`);
    }
  }
}

function needsSessions(deps: WorkDeps, runId: RunId): boolean {
  return deps.store.read((rows) =>
    rows.tasks
      .ofRun(runId)
      .some((task) => task.status === 'open' || task.status === 'assigned' || task.status === 'in_progress'),
  );
}

function engineGone(problem: EngineError): DriveOutcome {
  return { exit: 1, reason: `${problem.message}; ${problem.remedy}` };
}
