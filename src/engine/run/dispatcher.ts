import { decide, fromRepository } from '../app/deps.ts';
import { mustMove } from '../app/moves.ts';
import { type EngineError, engineError } from '../domain/errors.ts';
import type { ObjectId, SessionId } from '../domain/ids.ts';
import type { AgentRecord, ProposalRecord, RunRecord, SessionRecord, TaskRecord } from '../domain/records.ts';
import { err, ok, type Result } from '../domain/result.ts';
import { planAssignments } from '../domain/scheduling.ts';
import type { EffectivePolicy } from '../ports/policy-source.ts';
import type { Dependencies } from './dependencies.ts';
import type { WorkDeps } from './deps.ts';
import { type ReadyAdapter, resolveAdapter } from './resolve-adapter.ts';
import type { StopReason } from './session-job.ts';
import { superviseSession } from './session-supervisor.ts';
import { claimedResources, conflictingClaim, takeClaims } from './task-claims.ts';

export interface Dispatcher {
  /** Starts what can start now; answers the container engine's problem when that is what stands in the way. */
  dispatch(): Promise<{ readonly engineProblem: EngineError | null }>;
  /** False when no such session runs in this process. */
  stop(sessionId: string, reason: StopReason): boolean;
  stopAll(reason: StopReason, runId?: string): void;
  /** Starts nothing any more; with a reason, ends what is under way, also what a dispatch under way still starts. */
  close(stop: StopReason | null): void;
  /** Sessions under way in this process. */
  live(): readonly string[];
  /** Resolves when none is under way, of that run or of any. */
  idle(runId?: string): Promise<void>;
}

/** Nothing is wrong with the task: the next tick looks again. */
const PASSES: ReadonlySet<EngineError['code']> = new Set(['store_busy', 'illegal_transition', 'cancelled']);
/** A hiccup of git, disk or container engine; the task is blocked only when it lasts for so many ticks. */
const MAY_PASS: ReadonlySet<EngineError['code']> = new Set([
  'container_failed',
  'git_failed',
  'git_busy',
  'storage_failed',
]);
const MAX_FAILURES = 10;

interface UnderWay {
  readonly runId: string;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** Gives ready tasks to free agents and carries their sessions; at most `limits.max_sessions` at a time. */
export function createDispatcher(deps: WorkDeps, dependencies: Dependencies, changed: () => void): Dispatcher {
  const underWay = new Map<string, UnderWay>();
  /** Per task, how often in a row it could not start. */
  const failures = new Map<string, number>();
  let closed = false;
  let closedWith: StopReason | null = null;

  async function dispatch(): Promise<{ readonly engineProblem: EngineError | null }> {
    for (let started = true; started; ) {
      started = false;
      for (const assignment of plan(deps)) {
        if (closed) return { engineProblem: null };
        const { task } = assignment;
        const begun = await begin(deps, task, assignment.agent);
        if (begun.ok) {
          failures.delete(task.id);
          launch(begun.value);
          started = true;
        } else if (begun.error.code === 'container_engine_unavailable') {
          return { engineProblem: begun.error };
        } else if (!PASSES.has(begun.error.code)) {
          const count = (failures.get(task.id) ?? 0) + 1;
          failures.set(task.id, count);
          if (MAY_PASS.has(begun.error.code) && count < MAX_FAILURES) continue;
          failures.delete(task.id);
          await block(deps, task, begun.error);
        }
      }
    }
    return { engineProblem: null };
  }

  function launch(begun: Begun): void {
    const controller = new AbortController();
    const done = superviseSession(deps, dependencies, { ...begun, stop: controller.signal }).finally(() => {
      underWay.delete(begun.session.id);
      changed();
    });
    underWay.set(begun.session.id, { runId: begun.session.runId, controller, done });
    if (closedWith !== null) controller.abort(closedWith);
  }

  return {
    dispatch,
    stop(sessionId, reason) {
      const session = underWay.get(sessionId);
      session?.controller.abort(reason);
      return session !== undefined;
    },
    stopAll(reason, runId) {
      for (const session of underWay.values())
        if (runId === undefined || session.runId === runId) session.controller.abort(reason);
    },
    close(stop) {
      closed = true;
      if (stop === null) return;
      closedWith = stop;
      for (const session of underWay.values()) session.controller.abort(stop);
    },
    live: () => [...underWay.keys()],
    async idle(runId) {
      for (;;) {
        const sessions = [...underWay.values()].filter((session) => runId === undefined || session.runId === runId);
        if (sessions.length === 0) return;
        await Promise.all(sessions.map((session) => session.done));
      }
    },
  };
}

interface Begun {
  readonly session: SessionRecord;
  readonly task: TaskRecord;
  readonly ready: ReadyAdapter;
  readonly policy: EffectivePolicy;
  readonly continues: ProposalRecord | null;
}

function plan(deps: WorkDeps): ReturnType<typeof planAssignments> {
  return deps.store.read((rows) => {
    const runs = rows.runs.live().filter((run) => takesWork(run));
    const live = rows.sessions.live();
    const liveTasks = new Set<string>(live.map((session) => session.taskId ?? ''));
    const tasks = runs.flatMap((run) => rows.tasks.ofRun(run.id));
    const budget = new Map(
      runs.map((run) => [
        run.id as string,
        run.maxIterations === null ? Number.POSITIVE_INFINITY : run.maxIterations - run.iterations,
      ]),
    );
    const sentBack = new Set(
      tasks
        .filter((task) => task.status === 'in_progress' && !liveTasks.has(task.id))
        .filter((task) => rows.proposals.ofTask(task.id).some((proposal) => proposal.status === 'revision_requested'))
        .map((task) => task.id as string),
    );
    const counts = new Map<string, number>();
    for (const session of live) counts.set(session.agentId, (counts.get(session.agentId) ?? 0) + 1);
    const assignments = planAssignments({
      tasks,
      agents: rows.agents.all(),
      liveSessions: counts,
      liveTotal: live.length,
      maxSessions: deps.settings.current().maxSessions,
      now: deps.clock.now(),
      // Whether a literal names a directory is only known from the base; a file claim on it is compared all the same.
      claimsConflict: (task, agent) =>
        conflictingClaim(
          deps,
          rows,
          agent,
          claimedResources(task, () => false),
        ) !== null ||
        conflictingClaim(
          deps,
          rows,
          agent,
          claimedResources(task, () => true),
        ) !== null,
      revisionRequested: sentBack,
    });
    return assignments.filter(({ task }) => {
      const left = budget.get(task.runId) ?? 0;
      budget.set(task.runId, left - 1);
      return left > 0;
    });
  });
}

function takesWork(run: RunRecord): boolean {
  return run.status === 'active' && (run.maxIterations === null || run.iterations < run.maxIterations);
}

/** Checks everything that can be checked before a container exists, then commits the session's row. */
async function begin(deps: WorkDeps, task: TaskRecord, agent: AgentRecord): Promise<Result<Begun, EngineError>> {
  const signal = deps.lifetime;
  const ready = await resolveAdapter(deps, agent.adapter, signal);
  if (!ready.ok) return ready;
  const run = deps.store.read((rows) => rows.runs.get(task.runId));
  if (!run) return err(engineError('not_found', `run ${task.runId} is gone`, ''));
  const base = await deps.git.resolve(run.targetRef, signal);
  if (!base.ok) return err(fromRepository(base.error));
  if (base.value === null)
    return err(
      engineError(
        'no_commit',
        `${run.targetRef} has no commit`,
        'make a commit on it, or start a run with another target',
      ),
    );
  const policy = await deps.policies.forBase(base.value, signal);
  if (!policy.ok) return policy;
  const paths = await deps.git.listPaths(base.value, signal);
  if (!paths.ok) return err(fromRepository(paths.error));
  const resources = claimedResources(task, (path) => paths.value.some((file) => file.startsWith(`${path}/`)));
  return commit(deps, { task, agent, ready: ready.value, policy: policy.value, base: base.value, resources });
}

interface Commitment {
  readonly task: TaskRecord;
  readonly agent: AgentRecord;
  readonly ready: ReadyAdapter;
  readonly policy: EffectivePolicy;
  readonly base: ObjectId;
  readonly resources: ReturnType<typeof claimedResources>;
}

async function commit(
  deps: WorkDeps,
  { task, agent, ready, policy, base, resources }: Commitment,
): Promise<Result<Begun, EngineError>> {
  const stale = engineError(
    'illegal_transition',
    `${task.id} or ${agent.id} moved on meanwhile`,
    'the next tick looks again',
  );
  const decided = await decide(deps.store, (scope): Begun | null => {
    const now = deps.clock.now();
    const current = scope.tasks.get(task.id);
    const worker = scope.agents.get(agent.id);
    const run = scope.runs.get(task.runId);
    if (!current || !worker || !run || current.status !== task.status || !takesWork(run)) return null;
    if (worker.status !== 'idle' && worker.status !== 'running') return null;
    if (conflictingClaim(deps, scope, worker, resources)) return null;
    const continues =
      scope.proposals.ofTask(task.id).findLast((proposal) => proposal.status === 'revision_requested') ?? null;
    const session: SessionRecord = {
      id: scope.nextId('session') as SessionId,
      agentId: agent.id,
      role: agent.role,
      runId: run.id,
      taskId: task.id,
      adapter: agent.adapter,
      model: agent.model,
      mode: 'start',
      status: 'starting',
      statusReason: null,
      attempt: current.attempts + 1,
      baseCommit: base,
      imageDigest: ready.image.imageId,
      containerId: null,
      engineInstance: deps.engineInstance,
      externalId: null,
      withheld: [],
      exitCode: null,
      stdoutBytes: 0,
      stderrBytes: 0,
      stdoutTruncated: false,
      stderrTruncated: false,
      usage: null,
      createdAt: now,
      startedAt: null,
      endedAt: null,
      lastSeenAt: null,
      durations: {},
    };
    scope.sessions.insert(session);
    scope.append({
      type: 'session.starting',
      principal: 'system',
      entity: 'session',
      entityId: session.id,
      runId: run.id,
      data: {
        agentId: agent.id,
        taskId: task.id,
        attempt: session.attempt,
        baseCommit: base,
        image: session.imageDigest,
      },
    });
    const assigned =
      current.status === 'open'
        ? mustMove(scope, 'task', current, now, {
            to: 'assigned',
            by: 'system',
            reason: session.id,
            set: { attempts: session.attempt },
          })
        : { ...current, attempts: session.attempt, updatedAt: now };
    if (current.status !== 'open') scope.tasks.update(assigned);
    mustMove(scope, 'agent', worker, now, { to: 'running', by: 'system' });
    scope.runs.update({ ...run, iterations: run.iterations + 1, updatedAt: now });
    takeClaims(deps, scope, session, resources);
    return { session, task: assigned, ready, policy, continues };
  });
  if (!decided.ok) return decided;
  return decided.value === null ? err(stale) : ok(decided.value);
}

/** A task that can't start for a reason that no retry mends waits, with the reason, for the operator. */
async function block(deps: WorkDeps, task: TaskRecord, error: EngineError): Promise<void> {
  const blocked = await decide(deps.store, (scope) => {
    const row = scope.tasks.get(task.id);
    if (row && (row.status === 'open' || row.status === 'in_progress')) {
      mustMove(scope, 'task', row, deps.clock.now(), {
        to: 'blocked',
        by: 'system',
        reason: `${error.message}; ${error.remedy}`,
        data: { code: error.code },
      });
    }
  });
  if (!blocked.ok) deps.warn(`task ${task.id} could not be blocked: ${blocked.error.message}`);
}
