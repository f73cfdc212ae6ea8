import { decide, fromRepository, record } from '../app/deps.ts';
import { mustMove } from '../app/moves.ts';
import { type EngineError, engineError } from '../domain/errors.ts';
import { commandText } from '../domain/gates.ts';
import type { ObjectId } from '../domain/ids.ts';
import type { ProposalRecord, SessionRecord, TaskRecord } from '../domain/records.ts';
import { err, ok, type Result } from '../domain/result.ts';
import { compileScope } from '../domain/scope.ts';
import type { Room } from '../ports/container-runtime.ts';
import type { EffectivePolicy } from '../ports/policy-source.ts';
import type { BuiltRevision } from '../ports/private-repository.ts';
import { composeBriefing, composePrompt } from './briefing.ts';
import type { Dependencies } from './dependencies.ts';
import type { WorkDeps } from './deps.ts';
import type { ReadyAdapter } from './resolve-adapter.ts';
import { roomLabels, roomSpec } from './room-request.ts';
import { type RoomEnd, runInRoom } from './run-in-room.ts';
import { endSession, freeAgent, type SessionEnding } from './session-end.ts';
import { buildRevision, exportWorkspace, type Seeded } from './session-workspace.ts';
import { submitProposal } from './submit-proposal.ts';
import { isWithheldIn } from './withhold-scope.ts';

export interface SessionJob {
  readonly session: SessionRecord;
  readonly task: TaskRecord;
  readonly ready: ReadyAdapter;
  readonly policy: EffectivePolicy;
  /** The proposal that was sent back and gets its next revision. */
  readonly continues: ProposalRecord | null;
  /** Fires when the session is to end; its reason says who wants that. */
  readonly stop: AbortSignal;
}

/** Reasons that `stop` is aborted with. */
export type StopReason = 'operator' | 'engine' | 'limit';

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
  const seeded = await provision(deps, dependencies, job, root.source);
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

interface SeededRoom extends Seeded {
  readonly continuesRevision: number | null;
  readonly dependencies: { readonly volume: string; readonly dir: string } | null;
}

async function provision(
  deps: WorkDeps,
  dependencies: Dependencies,
  { session, task, ready, continues, stop }: SessionJob,
  targetDir: string,
): Promise<Result<SeededRoom, EngineError>> {
  const base = await deps.revisions.ensureBase(session.baseCommit, stop);
  if (!base.ok) return err(fromRepository(base.error));
  const inScope = compileScope([...task.readablePaths, ...task.writablePaths], deps.matches);
  const withhold = isWithheldIn(deps);
  const earlier = continues === null ? null : await earlierWork(deps, continues, session.baseCommit, stop);
  const provisioned = await deps.revisions.provision(
    { commit: session.baseCommit, inScope, withhold, targetDir, ...(earlier ? { contentTree: earlier } : {}) },
    stop,
  );
  if (!provisioned.ok) return err(fromRepository(provisioned.error));
  if (provisioned.value.seeded.length === 0) {
    return err(
      engineError(
        'scope_empty',
        `the scope of ${task.id} matches nothing in ${session.baseCommit.slice(0, 10)}`,
        'cancel the task and add it with paths that exist',
      ),
    );
  }
  await deps.files.makeReadable(targetDir);
  const prepared = await dependencies.ensure(session.runId, session.baseCommit, ready.image, stop);
  if (!prepared.ok) return prepared;
  await record(deps.store, (scope) => {
    const row = scope.sessions.get(session.id);
    if (row) scope.sessions.update({ ...row, withheld: provisioned.value.withheld });
  });
  const links = await deps.files.linkTargets(
    targetDir,
    provisioned.value.seeded.filter((entry) => entry.mode === '120000').map((entry) => entry.path),
  );
  return ok({
    continuesRevision: earlier === null ? null : (continues?.currentRevision ?? null),
    provisioned: provisioned.value,
    links,
    inScope,
    withhold,
    dependencyDir: prepared.value?.dir ?? null,
    dependencies: prepared.value,
  });
}

/** The tree that a revision request goes on from: the earlier result, on the present base if it still fits there. */
async function earlierWork(
  deps: WorkDeps,
  proposal: ProposalRecord,
  base: ObjectId,
  signal: AbortSignal,
): Promise<ObjectId | null> {
  const revision = deps.store.read((rows) => rows.proposals.revision(proposal.id, proposal.currentRevision));
  if (!revision) return null;
  if (revision.baseCommit === base) return revision.resultTree;
  const { maxFileBytes, maxChangedFiles } = deps.settings.current();
  const graft = await deps.revisions.graft(
    {
      oldBase: revision.baseCommit,
      resultTree: revision.resultTree,
      newBase: base,
      limits: { maxFileBytes, maxChangedFiles },
    },
    signal,
  );
  return graft.ok && graft.value !== null ? graft.value.resultTree : null;
}

/** In the paused room: keep what is there, then judge it. */
async function takeOver(
  deps: WorkDeps,
  job: SessionJob,
  seeded: SeededRoom,
  exportDir: string,
  room: Room,
  end: RoomEnd,
): Promise<Result<void, EngineError>> {
  const { session } = job;
  const outcome = outcomeOf(deps, job, end);
  if (outcome.status === 'succeeded') await markExporting(deps, session);
  const facts = { ...measured(end), ...(await observed(deps, job, end)) };
  // Not cut by `stop`: the work of a session that was stopped is kept for a look all the same.
  const signal = AbortSignal.any([deps.lifetime, AbortSignal.timeout(EXPORT_TIMEOUT_MS)]);
  const exported =
    end.how === 'room_lost'
      ? err(engineError('container_failed', 'the container was lost', ''))
      : await exportWorkspace(deps, room, seeded, exportDir, signal);
  if (outcome.status !== 'succeeded') {
    if (exported.ok) await keepForInspection(deps, session, seeded, exportDir, exported.value, signal);
    return endSession(deps, session.id, { ...outcome, set: facts });
  }
  if (!exported.ok) {
    const archive = await room.exportWorkspace(signal);
    if (archive.ok) await deps.files.keepArchive(session.id, archive.value, ARCHIVE_BYTES);
    return endSession(deps, session.id, refused(exported.error, facts));
  }
  const built = await buildRevision(deps, session, seeded, exportDir, exported.value, signal);
  if (!built.ok) return endSession(deps, session.id, refused(built.error, facts));
  return succeed(deps, job, built.value, facts);
}

const EXPORT_TIMEOUT_MS = 10 * 60_000;
/** Bound of a raw archive that is kept because its export was refused. */
const ARCHIVE_BYTES = 256 * 1024 ** 2;

type Outcome = { readonly status: 'succeeded' } | SessionEnding;

function outcomeOf(deps: WorkDeps, { session, stop }: SessionJob, end: RoomEnd): Outcome {
  const settings = deps.settings.current();
  switch (end.how) {
    case 'exited':
      if (end.exitCode === 0) return { status: 'succeeded' };
      return {
        status: 'failed',
        reason: `the agent ended with exit code ${end.exitCode}${end.oomKilled ? ' (out of memory)' : ''}`,
        retry: 'again',
      };
    case 'wall_clock':
      return {
        status: 'timed_out',
        reason: `over the ${settings.sessionTimeoutMs / 60_000} minutes of sandbox.session_minutes`,
        retry: 'again',
      };
    case 'idle':
      return {
        status: 'timed_out',
        reason: `no output for the ${settings.idleTimeoutMs / 60_000} minutes of sandbox.idle_minutes`,
        retry: 'again',
      };
    case 'room_lost':
      return { status: 'failed', reason: `the container of ${session.id} was lost`, retry: 'again' };
    case 'stopped': {
      return stoppedBy(stop.reason as StopReason);
    }
    default: {
      const never: never = end.how;
      throw new Error(`unknown end ${String(never)}`);
    }
  }
}

function stoppedBy(why: StopReason): SessionEnding {
  if (why === 'operator') return { status: 'cancelled', reason: 'stopped by the operator', retry: 'no' };
  return {
    status: 'cancelled',
    reason: why === 'limit' ? 'the run reached its limit' : 'the engine stopped',
    retry: 'give_back',
  };
}

function refused(error: EngineError, set: SessionEnding['set']): SessionEnding {
  return {
    status: 'failed',
    reason: error.message,
    feedback: `The change was refused: ${error.message}. ${error.remedy}`,
    retry: 'again',
    ...(set ? { set } : {}),
  };
}

async function succeed(
  deps: WorkDeps,
  job: SessionJob,
  built: BuiltRevision | null,
  facts: Facts,
): Promise<Result<void, EngineError>> {
  const { session, task, continues } = job;
  if (built !== null) {
    const number = continues === null ? 1 : continues.currentRevision + 1;
    const kept = await deps.revisions.keep(`session-${session.id}`, number, built, deps.lifetime);
    if (!kept.ok)
      return endSession(deps, session.id, { status: 'failed', reason: kept.error.message, retry: 'again', set: facts });
  }
  return decide(deps.store, (scope) => {
    const now = deps.clock.now();
    const row = scope.sessions.get(session.id);
    const current = scope.tasks.get(task.id);
    if (!row || !current) return;
    const done = mustMove(scope, 'session', row, now, {
      to: 'succeeded',
      by: 'system',
      reason: built === null ? 'nothing was changed' : null,
      set: { ...facts, endedAt: now },
    });
    freeAgent(scope, done, now);
    // A task that was cancelled while its agent worked gets no proposal.
    if (current.status !== 'in_progress') return;
    const back = continues === null ? null : scope.proposals.get(continues.id);
    if (built === null) {
      mustMove(scope, 'task', current, now, {
        to: 'in_review',
        by: 'system',
        reason: `${session.id} succeeded without a change`,
      });
    } else {
      submitProposal(scope, now, {
        session: done,
        task: current,
        built,
        policy: job.policy,
        continues: back?.status === 'revision_requested' ? back : null,
      });
    }
  });
}

type Facts = NonNullable<SessionEnding['set']>;

function measured(end: RoomEnd): Facts {
  return {
    exitCode: end.exitCode,
    stdoutBytes: end.stdout.totalBytes,
    stderrBytes: end.stderr.totalBytes,
    stdoutTruncated: end.stdout.truncated,
    stderrTruncated: end.stderr.truncated,
    durations: end.durations,
  };
}

async function observed(deps: WorkDeps, { session, ready }: SessionJob, end: RoomEnd): Promise<Facts> {
  const kept = await deps.files.readLog(session.id, 'stdout', 0, deps.settings.current().outputBytes);
  if (kept === null) return {};
  const seen = ready.adapter.parse(kept.text, end.stdout.truncated);
  return { externalId: seen.externalSessionId, usage: seen.usage };
}

/** A failed session's workspace stays readable as a diff; it is never submitted by itself. */
async function keepForInspection(
  deps: WorkDeps,
  session: SessionRecord,
  seeded: Seeded,
  exportDir: string,
  report: Parameters<typeof buildRevision>[4],
  signal: AbortSignal,
): Promise<void> {
  const built = await buildRevision(deps, session, seeded, exportDir, report, signal);
  if (!built.ok || built.value === null) return;
  const kept = await deps.revisions.keep(`session-${session.id}`, 1, built.value, signal);
  if (kept.ok)
    await deps.files.writeNote(session.id, 'kept', {
      baseTree: built.value.baseTree,
      resultTree: built.value.resultTree,
    });
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

async function markExporting(deps: WorkDeps, session: SessionRecord): Promise<void> {
  await decide(deps.store, (scope) => {
    const row = scope.sessions.get(session.id);
    if (row?.status === 'running') mustMove(scope, 'session', row, deps.clock.now(), { to: 'exporting', by: 'system' });
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
