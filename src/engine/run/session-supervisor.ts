import { decide, record } from '../app/deps.ts';
import { mustMove } from '../app/moves.ts';
import { type EngineError, engineError } from '../domain/errors.ts';
import { commandText } from '../domain/gates.ts';
import type { SessionRecord, TaskRecord } from '../domain/records.ts';
import type { Result } from '../domain/result.ts';
import type { Room } from '../ports/container-runtime.ts';
import { composeBriefing, composePrompt } from './briefing.ts';
import type { Dependencies } from './dependencies.ts';
import type { WorkDeps } from './deps.ts';
import { roomLabels, roomSpec } from './room-request.ts';
import { runInRoom } from './run-in-room.ts';
import { endSession, type SessionEnding } from './session-end.ts';
import type { SessionJob, StopReason } from './session-job.ts';
import { provisionSession, type SeededRoom } from './session-provision.ts';
import { stoppedBy, takeOver } from './session-takeover.ts';

/**
 * Carries one session from its row to its end: provision, create, seed, exec, watch, end, pause, export,
 * remove, build the revision, submit. Always leaves the session in a true end state and its room removed.
 */
export async function superviseSession(deps: WorkDeps, dependencies: Dependencies, job: SessionJob): Promise<void> {
  const { session } = job;
  try {
    const ended = await carry(deps, dependencies, job);
    if (!ended.ok) await giveUp(deps, job, ended.error);
  } catch (bug) {
    deps.warn(`session ${session.id} broke: ${bug instanceof Error ? (bug.stack ?? bug.message) : String(bug)}`);
    await giveUp(
      deps,
      job,
      engineError(
        'container_failed',
        `an internal error ended the session: ${bug instanceof Error ? bug.message : String(bug)}`,
        'run again with ROUNDTABLE_DEBUG=1 and report it',
      ),
    );
  } finally {
    await deps.files.removeRoot(session.id, { keepExport: true });
  }
}

async function carry(deps: WorkDeps, dependencies: Dependencies, job: SessionJob): Promise<Result<void, EngineError>> {
  const { session, task, ready, stop } = job;
  const root = await deps.files.prepareRoot(session.id);
  const seeded = await provisionSession(deps, dependencies, job, root.source);
  if (!seeded.ok) return seeded;
  const plan = ready.adapter.plan({
    adapterName: ready.settings.name,
    command: ready.settings.command,
    args: ready.settings.args,
    model: modelOf(deps, session),
    ...texts(deps, task, seeded.value),
    credentials: ready.credentials,
  });
  const settings = deps.settings.current();
  const finished = await runInRoom(
    deps,
    {
      ownerId: session.id,
      spec: roomSpec(deps, {
        labels: roomLabels(deps, 'session', session.runId, session.id),
        image: ready.image,
        sourceDir: root.source,
        dependencies: seeded.value.dependencies === null ? null : { ...seeded.value.dependencies, writable: false },
      }),
      files: plan.files,
      exec: plan,
      wallMs: settings.sessionTimeoutMs,
      idleMs: settings.idleTimeoutMs,
      outputBytes: settings.outputBytes,
      stop,
      started: (room) => markRunning(deps, session, room),
      sign: heartbeat(deps, session),
    },
    (room, end) => takeOver(deps, job, seeded.value, root.exported, room, end),
  );
  if (!finished.ok) return finished;
  return finished.value;
}

async function markRunning(deps: WorkDeps, session: SessionRecord, room: Room): Promise<void> {
  await decide(deps.store, (scope) => {
    const row = scope.sessions.get(session.id);
    const task = session.taskId === null ? null : scope.tasks.get(session.taskId);
    const now = deps.clock.now();
    if (row?.status === 'starting')
      mustMove(scope, 'session', row, now, {
        to: 'running',
        by: 'system',
        set: { containerId: room.containerId, startedAt: now, lastSeenAt: now },
      });
    if (task?.status === 'assigned')
      mustMove(scope, 'task', task, now, { to: 'in_progress', by: 'system', reason: session.id });
  });
}

/** Notes a sign of life at most every few seconds, without an event: a chatty agent must not fill the log. */
function heartbeat(deps: WorkDeps, session: SessionRecord): () => void {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = deps.clock.monotonicMs();
    if (now - last < HEARTBEAT_MS) return;
    last = now;
    void record(deps.store, (scope) => {
      const row = scope.sessions.get(session.id);
      if (row) scope.sessions.update({ ...row, lastSeenAt: deps.clock.now() });
    });
  };
}

const HEARTBEAT_MS = 5_000;

/** A session that never got to its end by itself. */
async function giveUp(deps: WorkDeps, { session, stop }: SessionJob, error: EngineError): Promise<void> {
  const stopped = stop.aborted || error.code === 'cancelled';
  const ending: SessionEnding = stopped
    ? stoppedBy(stop.reason as StopReason)
    : {
        status: 'failed',
        reason: `${error.message}; ${error.remedy}`,
        retry: RETRY_IS_USELESS.has(error.code) ? 'no' : 'again',
      };
  const ended = await endSession(deps, session.id, ending);
  if (!ended.ok) deps.warn(`the end of session ${session.id} could not be recorded: ${ended.error.message}`);
}

const RETRY_IS_USELESS: ReadonlySet<EngineError['code']> = new Set([
  'scope_empty',
  'config_invalid',
  'unsupported_repository',
  'image_contract',
  'image_not_pinned',
  'image_missing',
]);

function modelOf(deps: WorkDeps, session: SessionRecord): string {
  return deps.settings.current().agents.find((agent) => agent.id === session.agentId)?.model ?? session.model;
}

function texts(
  deps: WorkDeps,
  task: TaskRecord,
  seeded: SeededRoom,
): { readonly prompt: string; readonly briefing: string } {
  const settings = deps.settings.current();
  const input = {
    task,
    projectName: settings.projectName,
    seededFiles: seeded.provisioned.seeded.length,
    withheld: seeded.provisioned.withheld,
    requiredTests: [...settings.tests.required, ...task.expectedTests].map(commandText),
    continuesRevision: seeded.continuesRevision,
  };
  return { prompt: composePrompt(input), briefing: composeBriefing(input) };
}
