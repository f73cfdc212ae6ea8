import { decide } from '../app/deps.ts';
import { settledProposal } from '../app/end-task.ts';
import { evaluateGates } from '../app/evaluate-gates.ts';
import { mustMove } from '../app/moves.ts';
import { type Convergence, converge } from '../domain/convergence.ts';
import type { EngineError } from '../domain/errors.ts';
import { type BaseState, machinePending } from '../domain/gates.ts';
import type { TaskId } from '../domain/ids.ts';
import type { RunRecord } from '../domain/records.ts';
import type { Result } from '../domain/result.ts';
import type { Repositories, WriteScope } from '../ports/store.ts';
import type { WorkDeps } from './deps.ts';

/**
 * Moves each live run to where its tasks and proposals say it stands: completed, blocked with what it waits
 * for, active again, drained at a limit, stopped when a drain has come to its end.
 */
export async function restRuns(
  deps: WorkDeps,
  bases: ReadonlyMap<string, BaseState>,
  advancing: (proposalId: string) => boolean,
): Promise<Result<void, EngineError>> {
  const moving = deps.store.read((rows) =>
    rows.runs.live().some((run) => plannedMove(deps, rows, run, bases, advancing) !== null),
  );
  if (!moving) return { ok: true, value: undefined };
  return decide(deps.store, (scope) => {
    for (const run of scope.runs.live()) rest(deps, scope, run, bases, advancing);
  });
}

interface PlannedMove {
  readonly to: 'completed' | 'blocked' | 'active' | 'draining' | 'stopped';
  readonly reason: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

function rest(
  deps: WorkDeps,
  scope: WriteScope,
  run: RunRecord,
  bases: ReadonlyMap<string, BaseState>,
  advancing: (id: string) => boolean,
): void {
  const planned = plannedMove(deps, scope, run, bases, advancing);
  if (!planned) return;
  const now = deps.clock.now();
  // A blocked run whose last proposal was decided is complete: the table leads there through active.
  const current =
    planned.to === 'completed' && run.status === 'blocked'
      ? mustMove(scope, 'run', run, now, { to: 'active', by: 'system' })
      : run;
  mustMove(scope, 'run', current, now, {
    to: planned.to,
    by: 'system',
    reason: planned.reason,
    ...(planned.data ? { data: planned.data } : {}),
  });
}

function plannedMove(
  deps: WorkDeps,
  rows: Repositories,
  run: RunRecord,
  bases: ReadonlyMap<string, BaseState>,
  advancing: (id: string) => boolean,
): PlannedMove | null {
  const liveSessions = rows.sessions
    .ofRun(run.id)
    .some((session) => ['starting', 'running', 'paused', 'exporting'].includes(session.status));
  if (run.status === 'draining') return liveSessions ? null : { to: 'stopped', reason: run.statusReason ?? 'drained' };
  if (run.status !== 'active' && run.status !== 'blocked') return null;
  const state = stateOf(deps, rows, run, bases, advancing);
  if (state.kind === 'completed') {
    const { done, failed, cancelled } = state;
    return {
      to: 'completed',
      reason: `${done} done, ${failed} failed, ${cancelled} cancelled`,
      data: { done, failed, cancelled },
    };
  }
  const limit = reachedLimit(deps, run, state, liveSessions);
  if (limit !== null) return { to: 'draining', reason: limit };
  const blocked =
    state.kind === 'awaiting_human'
      ? `awaiting_human: ${state.waitingFor.join(', ')}`
      : state.kind === 'blocked'
        ? blockedText(rows, state.tasks)
        : null;
  if (blocked !== null)
    return run.status === 'blocked' && run.statusReason === blocked
      ? null
      : run.status === 'active'
        ? { to: 'blocked', reason: blocked }
        : null;
  return run.status === 'blocked' ? { to: 'active', reason: 'there is work again' } : null;
}

function blockedText(rows: Repositories, tasks: readonly string[]): string {
  const why = tasks.map((id) => {
    const task = rows.tasks.get(id as TaskId);
    if (task?.status === 'open') return `${id} (no enabled agent can take it, or it depends on one that can't move)`;
    return task?.statusReason ? `${id} (${task.statusReason})` : id;
  });
  return `blocked tasks: ${why.join(', ')}`;
}

/** What a limit says in a run's reason, so that `run` can tell it from a drain by hand. */
export const LIMIT_REASON = 'limit reached: ';

function reachedLimit(deps: WorkDeps, run: RunRecord, state: Convergence, liveSessions: boolean): string | null {
  if (run.deadlineAt !== null && Date.parse(run.deadlineAt) <= deps.clock.nowMs())
    return `${LIMIT_REASON}the time of the run is up`;
  const iterationsUp = run.maxIterations !== null && run.iterations >= run.maxIterations;
  // Sessions and proposals under way may still finish the run within the limit.
  if (iterationsUp && !liveSessions && state.kind === 'work_remains' && state.needsSession)
    return `${LIMIT_REASON}${run.iterations} sessions started`;
  return null;
}

function stateOf(
  deps: WorkDeps,
  rows: Repositories,
  run: RunRecord,
  bases: ReadonlyMap<string, BaseState>,
  advancing: (id: string) => boolean,
): Convergence {
  const tasks = rows.tasks.ofRun(run.id);
  const proposals = rows.proposals.ofRun(run.id);
  const open = proposals.filter((proposal) => !settledProposal(proposal.status));
  const waiting = open.filter((proposal) => {
    if (advancing(proposal.id)) return false;
    if (proposal.status === 'approved')
      return proposal.statusReason !== null || deps.settings.current().applyMode === 'manual';
    if (proposal.status !== 'in_review') return false;
    const evaluated = evaluateGates(
      rows,
      deps.settings.current(),
      deps.matches,
      proposal,
      bases.get(proposal.id) ?? { kind: 'unknown', reason: 'not looked at yet' },
    );
    if (!evaluated || machinePending(evaluated.gates)) return false;
    return evaluated.gates.some((gate) => gate.status === 'failed' || gate.status === 'pending');
  });
  const withProposal = new Set<string>(open.map((proposal) => proposal.taskId));
  const able = rows.agents.all().filter((agent) => !agent.retired && agent.enabledByOperator);
  const agentless = tasks.filter(
    (task) => !able.some((agent) => (task.agentId === null ? agent.role === task.role : agent.id === task.agentId)),
  );
  return converge({
    run,
    tasksWithoutAgent: new Set(agentless.map((task) => task.id)),
    tasks,
    proposals,
    sessions: rows.sessions.ofRun(run.id),
    proposalsWaitingForOperator: new Set(waiting.map((proposal) => proposal.id)),
    tasksWaitingForOperator: new Set(
      tasks.filter((task) => task.status === 'in_review' && !withProposal.has(task.id)).map((task) => task.id),
    ),
  });
}
