import { decide } from '../app/deps.ts';
import { mustMove } from '../app/moves.ts';
import { type EngineError, engineError } from '../domain/errors.ts';
import type { SessionRecord } from '../domain/records.ts';
import { err, type Result } from '../domain/result.ts';
import type { Room } from '../ports/container-runtime.ts';
import type { BuiltRevision } from '../ports/private-repository.ts';
import type { WorkDeps } from './deps.ts';
import type { RoomEnd } from './run-in-room.ts';
import { endSession, freeAgent, type SessionEnding } from './session-end.ts';
import type { SessionJob, StopReason } from './session-job.ts';
import { buildRevision, exportWorkspace, type Seeded } from './session-workspace.ts';
import { submitProposal } from './submit-proposal.ts';

/** In the paused room: keep what is there, then judge it. */
export async function takeOver(
  deps: WorkDeps,
  job: SessionJob,
  seeded: Seeded,
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
    const words = end.how === 'exited' ? await lastWords(deps, session.id, end) : '';
    if (exported.ok) await keepForInspection(deps, session, seeded, exportDir, exported.value, signal);
    return endSession(deps, session.id, { ...outcome, reason: `${outcome.reason}${words}`, set: facts });
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

/** The last line of what a failed agent said on stderr: mostly why. */
async function lastWords(deps: WorkDeps, sessionId: string, end: RoomEnd): Promise<string> {
  const from = Math.max(0, end.stderr.keptBytes - LAST_WORDS_BYTES);
  const kept = await deps.files.readLog(sessionId, 'stderr', from, LAST_WORDS_BYTES);
  const line = kept?.text.trim().split('\n').at(-1)?.trim() ?? '';
  return line === '' ? '' : `: ${line.slice(0, 200)}`;
}

const LAST_WORDS_BYTES = 500;
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

export function stoppedBy(why: StopReason): SessionEnding {
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

async function markExporting(deps: WorkDeps, session: SessionRecord): Promise<void> {
  await decide(deps.store, (scope) => {
    const row = scope.sessions.get(session.id);
    if (row?.status === 'running') mustMove(scope, 'session', row, deps.clock.now(), { to: 'exporting', by: 'system' });
  });
}
