import { Readable } from 'node:stream';
import { err, ok, type Result } from '../../engine/domain/result.ts';
import { ROOM_PATHS, type Room, type RoomStatus, type RuntimeError } from '../../engine/ports/container-runtime.ts';
import { callEngine } from './engine-call.ts';
import type { EngineConnection } from './engine-connection.ts';
import type { ExecGate } from './exec-gate.ts';
import { removeContainer, removeNamedVolume } from './removal.ts';
import { startExec } from './room-exec.ts';
import { killAgent } from './room-kill.ts';
import { seedFiles, seedWorkspace, type WorkspaceSeed } from './room-seed.ts';
import { engineAnswer, engineStatus, failure, RuntimeFailure } from './runtime-failure.ts';

const CALL_TIMEOUT_MS = 30_000;
const EXPORT_TIMEOUT_MS = 10 * 60_000;

export interface RoomHandle {
  /** Empty when only volumes are left. */
  readonly containerId: string;
  readonly volumes: readonly string[];
  /** Null for a room that was found, not made: it can be exported and removed, not seeded. */
  readonly seed: WorkspaceSeed | null;
}

export interface RoomSurroundings {
  /** Asked each time: a room outlives a lost connection. */
  readonly connect: () => Promise<EngineConnection>;
  /** One per container, shared by all rooms of this process that stand for it. */
  readonly gate: ExecGate;
}

export function makeRoom(handle: RoomHandle, { connect, gate }: RoomSurroundings): Room {
  const { containerId, volumes, seed } = handle;
  const short = containerId.slice(0, 12);
  const withEngine = <T>(work: (engine: EngineConnection) => Promise<T>) => settle(async () => work(await present()));
  const present = async () => {
    if (containerId !== '') return connect();
    throw failure('container_gone', 'only volumes are left of this room', 'remove the room');
  };
  return {
    containerId,
    volumes,
    seedWorkspace: (signal) =>
      withEngine(async (engine) => {
        if (seed === null) {
          throw failure('engine_failed', 'a room that was found again has no source', 'make a new room');
        }
        await seedWorkspace({ engine, containerId, gate }, seed, signal);
      }),
    seedFiles: (files, signal) => withEngine((engine) => seedFiles(engine, containerId, files, signal)),
    exec: (spec, signal) => withEngine((engine) => startExec({ engine, containerId, gate }, spec, signal)),
    pause: () =>
      withEngine((engine) => gate.pause(() => change(engine, `pause container ${short}`, /already paused/i, 'pause'))),
    unpause: () => withEngine((engine) => change(engine, `resume container ${short}`, /not paused/i, 'unpause')),
    killAgent: (graceMs) =>
      withEngine(async (engine) => {
        const status = await inspectStatus(engine, containerId);
        if (status.state === 'gone' || status.state === 'exited') return;
        if (status.state === 'paused') await change(engine, `resume container ${short}`, /not paused/i, 'unpause');
        await killAgent({ engine, containerId, gate }, graceMs);
      }),
    exportWorkspace: (signal) => withEngine((engine) => exportWorkspace(engine, containerId, signal)),
    status: () =>
      settle(async () => {
        if (containerId === '') return { state: 'gone', oomKilled: false };
        return inspectStatus(await connect(), containerId);
      }),
    remove: () =>
      settle(async () => {
        const engine = await connect();
        if (containerId !== '') await removeContainer(engine, containerId);
        for (const name of [...volumes].reverse()) await removeNamedVolume(engine, name);
      }),
  };

  async function change(engine: EngineConnection, doing: string, alreadySo: RegExp, action: 'pause' | 'unpause') {
    await callEngine({ doing, timeoutMs: CALL_TIMEOUT_MS }, async () => {
      try {
        await engine.docker.getContainer(containerId)[action]();
      } catch (cause) {
        if (!alreadySo.test(engineAnswer(cause))) throw cause;
      }
    });
  }
}

/** Answers a failure of this folder as a value; anything else is a bug and goes on. */
export async function settle<T>(work: () => Promise<T>): Promise<Result<T, RuntimeError>> {
  try {
    return ok(await work());
  } catch (cause) {
    if (cause instanceof RuntimeFailure) return err(cause.runtimeError);
    throw cause;
  }
}

async function inspectStatus(engine: EngineConnection, containerId: string): Promise<RoomStatus> {
  const doing = `inspect container ${containerId.slice(0, 12)}`;
  return callEngine({ doing, timeoutMs: CALL_TIMEOUT_MS }, async (): Promise<RoomStatus> => {
    try {
      const { State } = await engine.docker.getContainer(containerId).inspect();
      const state = State.Paused ? 'paused' : State.Running ? 'running' : 'exited';
      return { state, oomKilled: State.OOMKilled };
    } catch (cause) {
      if (engineStatus(cause) === 404) return { state: 'gone', oomKilled: false };
      throw cause;
    }
  });
}

async function exportWorkspace(engine: EngineConnection, containerId: string, signal: AbortSignal): Promise<Readable> {
  const status = await inspectStatus(engine, containerId);
  if (status.state !== 'paused') {
    throw failure(
      status.state === 'gone' ? 'container_gone' : 'engine_failed',
      `the workspace can't be exported: the container is ${status.state}, not paused`,
      'pause the room first; an export of a running workspace may be corrupt',
    );
  }
  const doing = `export the workspace of container ${containerId.slice(0, 12)}`;
  const archive = await callEngine({ doing, timeoutMs: CALL_TIMEOUT_MS, signal }, () =>
    // `/.`: names relative to the workspace.
    engine.docker.getContainer(containerId).getArchive({ path: `${ROOM_PATHS.workspace}/.` }),
  );
  const stream = archive instanceof Readable ? archive : Readable.from(archive);
  const stop = (reason: string) => stream.destroy(new Error(`${reason} while trying to ${doing}`));
  const timer = setTimeout(() => stop(`${EXPORT_TIMEOUT_MS} ms went by`), EXPORT_TIMEOUT_MS);
  const onAbort = () => stop('cancelled');
  signal.addEventListener('abort', onAbort, { once: true });
  stream.once('close', () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  });
  return stream;
}
