import { type EngineError, engineError } from '../domain/errors.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { ExecSpec, Room, RoomSpec } from '../ports/container-runtime.ts';
import type { StreamRecord } from '../ports/session-files.ts';
import type { WorkDeps } from './deps.ts';
import { fromRuntime } from './resolve-adapter.ts';
import { createWatchdog, type Watchdog } from './watchdog.ts';

export interface RoomRun {
  readonly ownerId: string;
  readonly spec: RoomSpec;
  readonly files: Readonly<Record<string, Uint8Array>>;
  readonly exec: ExecSpec;
  readonly wallMs: number;
  readonly idleMs: number;
  readonly outputBytes: number;
  /** Fires when the work is to be ended early; the room is still handed to `finish`. */
  readonly stop: AbortSignal;
  /** The process runs: called once, before its first output is read. */
  readonly started: (room: Room) => Promise<void>;
  /** Called for every sign of life, at most a few times a second. */
  readonly sign: () => void;
}

export interface RoomEnd {
  readonly how: 'exited' | 'wall_clock' | 'idle' | 'stopped' | 'room_lost';
  readonly exitCode: number | null;
  readonly oomKilled: boolean;
  readonly stdout: StreamRecord;
  readonly stderr: StreamRecord;
  readonly durations: Readonly<Record<string, number>>;
}

/** Grace between SIGTERM and SIGKILL. */
export const KILL_GRACE_MS = 10_000;
/** How long output may go on after the process has ended. */
const STREAM_GRACE_MS = 5_000;

/**
 * One process in one fresh room: create, seed, run, watch, end, pause, hand the paused room to `finish`, remove. Every step after
 * the first has its undo; whatever happens, the room is removed and nothing of the process goes on.
 */
export async function runInRoom<T>(
  deps: WorkDeps,
  run: RoomRun,
  finish: (room: Room, end: RoomEnd) => Promise<T>,
): Promise<Result<T, EngineError>> {
  const times = createTimes(deps);
  // Creation is not cut by `stop` in mid-call: the room must be known to be removed.
  const created = await times.measure('create', deps.runtime.createRoom(run.spec, run.stop));
  if (!created.ok) return err(fromRuntime(created.error));
  const room = created.value;
  try {
    const [seeded, files] = await Promise.all([
      times.measure('seed', room.seedWorkspace(run.stop)),
      Object.keys(run.files).length > 0 ? times.measure('files', room.seedFiles(run.files, run.stop)) : ok(undefined),
    ]);
    if (!seeded.ok) return err(fromRuntime(seeded.error));
    if (!files.ok) return err(fromRuntime(files.error));
    const end = await execute(deps, room, run, times);
    if (!end.ok) return end;
    await times.measure('pause', room.pause());
    return ok(await finish(room, { ...end.value, durations: times.read() }));
  } finally {
    const removed = await times.measure('remove', room.remove());
    if (!removed.ok) deps.warn(`the room of ${run.ownerId} could not be removed: ${removed.error.message}`);
  }
}

async function execute(
  deps: WorkDeps,
  room: Room,
  run: RoomRun,
  times: Times,
): Promise<Result<Omit<RoomEnd, 'durations'>, EngineError>> {
  // Not cut by `stop`: that would lose what the process says in its grace, and its exit. The watchdog ends it.
  if (run.stop.aborted)
    return err(engineError('cancelled', `${run.ownerId} was stopped before it began`, 'start it again'));
  const started = await times.measure('exec', room.exec(run.exec, deps.lifetime));
  if (!started.ok) return err(fromRuntime(started.error));
  const process = started.value;
  const watchdog = createWatchdog(deps.clock, run);
  const onStop = (): void => watchdog.stop();
  run.stop.addEventListener('abort', onStop);
  if (run.stop.aborted) watchdog.stop();
  const onChunk = (): void => {
    watchdog.touch();
    run.sign();
  };
  const stdout = deps.files.keepStream(run.ownerId, 'stdout', process.stdout, run.outputBytes, onChunk);
  const stderr = deps.files.keepStream(run.ownerId, 'stderr', process.stderr, run.outputBytes, onChunk);
  try {
    await run.started(room);
    const how = await firstEnd(process.done, watchdog);
    if (how.kind !== 'exited') {
      const killed = await room.killAgent(KILL_GRACE_MS);
      if (!killed.ok) deps.warn(`the process of ${run.ownerId} could not be killed: ${killed.error.message}`);
    }
    const exit = how.kind === 'exited' ? how.result : await settleWithin(process.done, 5_000);
    const status = await room.status();
    const kept = Promise.all([stdout, stderr]);
    if ((await settleWithin(kept, STREAM_GRACE_MS)) === null) {
      // Something that outlived its parent holds the output open; what it said so far is kept.
      process.stdout.destroy();
      process.stderr.destroy();
    }
    const [out, error] = await kept;
    const lost = !status.ok || status.value.state === 'gone' || status.value.state === 'exited';
    return ok({
      how: how.kind === 'exited' ? (lost || exit === null || !exit.ok ? 'room_lost' : 'exited') : how.kind,
      exitCode: exit?.ok ? exit.value.exitCode : null,
      oomKilled: status.ok && status.value.oomKilled,
      stdout: out,
      stderr: error,
    });
  } finally {
    run.stop.removeEventListener('abort', onStop);
    watchdog.close();
  }
}

async function firstEnd<R>(
  done: Promise<R>,
  watchdog: Watchdog,
): Promise<{ readonly kind: 'exited'; readonly result: R } | { readonly kind: 'wall_clock' | 'idle' | 'stopped' }> {
  return Promise.race([
    done.then((result) => ({ kind: 'exited', result }) as const),
    watchdog.fired.then((kind) => ({ kind }) as const),
  ]);
}

async function settleWithin<R>(promise: Promise<R>, ms: number): Promise<R | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

interface Times {
  measure<T>(step: string, work: Promise<T>): Promise<T>;
  read(): Readonly<Record<string, number>>;
}

function createTimes(deps: WorkDeps): Times {
  const times: Record<string, number> = {};
  return {
    async measure(step, work) {
      const from = deps.clock.monotonicMs();
      try {
        return await work;
      } finally {
        times[step] = Math.round(deps.clock.monotonicMs() - from);
      }
    },
    read: () => ({ ...times }),
  };
}
