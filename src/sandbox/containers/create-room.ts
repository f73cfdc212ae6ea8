import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { roomLimitProblems } from '../../engine/domain/room-limits.ts';
import type { RoomSpec } from '../../engine/ports/container-runtime.ts';
import { roomSpecification } from '../hardening.ts';
import { callEngine, cancelled } from './engine-call.ts';
import type { EngineConnection } from './engine-connection.ts';
import type { ImageDemands } from './images.ts';
import { removeContainer, removeNamedVolume } from './removal.ts';
import type { RoomHandle } from './room.ts';
import { openDependencyPlace } from './room-seed.ts';
import { failure, RuntimeFailure } from './runtime-failure.ts';
import { UndoStack } from './undo.ts';

const VOLUME_TIMEOUT_MS = 15_000;
const CREATE_TIMEOUT_MS = 30_000;
const START_TIMEOUT_MS = 60_000;

export interface CreateRoomContext {
  readonly engine: EngineConnection;
  readonly ociRuntime: string | null;
  readonly demandsOf: (imageId: string, signal: AbortSignal) => Promise<ImageDemands>;
}

/** Volumes (all at once), container, start. Whatever fails or is cancelled, nothing stays on the engine. */
export async function createRoom(context: CreateRoomContext, spec: RoomSpec, signal: AbortSignal): Promise<RoomHandle> {
  const { engine } = context;
  refuseUnsafe(engine, spec);
  const [seccompProfile, image] = await Promise.all([
    readSeccompProfile(spec.seccompProfile),
    context.demandsOf(spec.image.imageId, signal),
  ]);
  const roomName = nameRoom(spec);
  const { ociRuntime } = context;
  const plan = roomSpecification({ spec, roomName, engineKind: engine.info.kind, ociRuntime, seccompProfile, image });

  const undo = new UndoStack();
  // Calls that make something are not cut short when the signal fires: the engine would go on with them, and what they
  // make would appear after its removal. They take milliseconds; the signal is looked at in between.
  const step = async <T>(doing: string, timeoutMs: number, run: () => Promise<T>): Promise<T> => {
    if (signal.aborted) throw cancelled(doing);
    return callEngine({ doing, timeoutMs }, run);
  };
  try {
    const volumes = plan.volumes.map((volume) => volume.Name ?? '');
    for (const name of volumes) undo.push(`volume ${name}`, () => removeNamedVolume(engine, name));
    const made = await Promise.allSettled(
      plan.volumes.map((volume) =>
        step(`create volume ${volume.Name}`, VOLUME_TIMEOUT_MS, () => engine.docker.createVolume(volume)),
      ),
    );
    for (const result of made) if (result.status === 'rejected') throw result.reason;

    undo.push(`container ${roomName}`, () => removeContainer(engine, roomName));
    const container = await step(`create container ${roomName}`, CREATE_TIMEOUT_MS, () =>
      engine.docker.createContainer(plan.container),
    );
    await step(`start container ${roomName}`, START_TIMEOUT_MS, () => container.start());
    const dependencies = spec.dependencies;
    if (dependencies) await openDependencyPlace(engine, container.id, dependencies, signal);
    if (signal.aborted) throw cancelled(`create room ${roomName}`);
    return {
      containerId: container.id,
      volumes,
      seed: { sourceDir: spec.sourceDir, dependencyDir: dependencies?.dir ?? null },
    };
  } catch (cause) {
    throw withLeftovers(cause, await undo.run());
  }
}

/** Unique without asking the engine, and known before the first call, so that an unanswered call can be undone. */
function nameRoom(spec: RoomSpec): string {
  const owner = spec.labels.ownerId
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40);
  return `roundtable-${owner}-${randomBytes(6).toString('hex')}`;
}

function refuseUnsafe(engine: EngineConnection, spec: RoomSpec): void {
  const problems = roomLimitProblems(spec.limits);
  if (problems.length > 0) {
    throw failure('engine_failed', `a limit of the room is out of bounds: ${problems.join('; ')}`, 'correct the limit');
  }
  if (engine.info.kind === 'podman' && !spec.allowUnboundedVolumes) {
    throw failure(
      'unbounded_volume',
      'this Podman can not bound the size of a tmpfs volume',
      'use Docker, or accept it with runtime.allow_unbounded_volumes: true (the memory limit still holds)',
    );
  }
  if (!engine.defaultSeccomp && spec.seccompProfile === null) {
    throw failure(
      'engine_failed',
      'this container engine applies no seccomp filter by default',
      'set runtime.seccomp_profile to a profile file, or switch the default profile of the engine on',
    );
  }
  const dir = spec.dependencies?.dir;
  if (dir !== undefined && !/^(?!\.{1,2}(?:\/|$))[^/\0]+(?:\/(?!\.{1,2}(?:\/|$))[^/\0]+)*$/.test(dir)) {
    throw failure(
      'engine_failed',
      `${JSON.stringify(dir)} is no place for dependencies`,
      'set tests.prepare.dir to a relative directory such as node_modules',
    );
  }
}

async function readSeccompProfile(file: string | null): Promise<string | null> {
  if (file === null) return null;
  const remedy = 'set runtime.seccomp_profile to a readable JSON profile, or to null for the default of the engine';
  let profile: unknown;
  try {
    const text = await readFile(file, 'utf8');
    profile = JSON.parse(text);
  } catch (cause) {
    throw failure('engine_failed', `the seccomp profile ${file} can't be read as JSON`, remedy, cause);
  }
  if (typeof profile !== 'object' || profile === null || !('defaultAction' in profile)) {
    throw failure('engine_failed', `${file} is no seccomp profile: it has no defaultAction`, remedy);
  }
  // One that lets through what it doesn't name is weaker than the engine's own.
  if (!/^SCMP_ACT_(ERRNO|KILL|KILL_PROCESS|KILL_THREAD|TRAP)$/.test(String(profile.defaultAction))) {
    throw failure('engine_failed', `the seccomp profile ${file} allows what it does not name`, remedy);
  }
  return JSON.stringify(profile);
}

function withLeftovers(cause: unknown, leftBehind: readonly string[]): unknown {
  if (!(cause instanceof RuntimeFailure) || leftBehind.length === 0) return cause;
  const { code, message, remedy } = cause.runtimeError;
  return failure(
    code,
    `${message}; may be left on the engine until the next reconciliation: ${leftBehind.join(', ')}`,
    remedy,
    cause,
  );
}
