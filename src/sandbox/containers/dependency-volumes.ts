import { randomUUID } from 'node:crypto';
import type { RoomLabels } from '../../engine/ports/container-runtime.ts';
import { callEngine, cancelled } from './engine-call.ts';
import type { EngineConnection } from './engine-connection.ts';
import { LABEL, toEngineLabels } from './labels.ts';
import { removeNamedVolume } from './removal.ts';
import { engineStatus, failure } from './runtime-failure.ts';

// A dependency volume counts only when a second, empty volume `<name>.complete` names its generation. That mark is made
// by one atomic call after the preparation has ended well, needs no container, and can't be forged from inside a room.
// A crash before it leaves a volume that the next preparation throws away.

const TIMEOUT_MS = 15_000;

interface FoundVolume {
  readonly labels: Readonly<Record<string, string>>;
}

/** Makes the volume unless a complete one is there. An incomplete one is removed first. One preparation at a time. */
export async function ensureDependencyVolume(
  engine: EngineConnection,
  name: string,
  labels: RoomLabels,
  signal: AbortSignal,
): Promise<{ readonly created: boolean }> {
  const [volume, mark] = await Promise.all([find(engine, name, signal), find(engine, markOf(name), signal)]);
  refuseForeign(name, volume, labels.projectId);
  refuseForeign(markOf(name), mark, labels.projectId);
  const generation = volume?.labels[LABEL.generation];
  if (generation !== undefined && mark?.labels[LABEL.generation] === generation) return { created: false };
  await removeDependencyVolume(engine, name);
  await create(engine, name, { ...toEngineLabels(labels), ...kindLabels('dependencies', randomUUID()) }, signal);
  return { created: true };
}

/** Declares the contents whole; from now on `ensureDependencyVolume` finds the volume. */
export async function completeDependencyVolume(
  engine: EngineConnection,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const volume = await find(engine, name, signal);
  const generation = volume?.labels[LABEL.generation];
  if (!volume || generation === undefined) {
    throw failure(
      'engine_failed',
      `there is no dependency volume ${name} to complete`,
      'prepare the dependencies again',
    );
  }
  await create(engine, markOf(name), { ...volume.labels, ...kindLabels('dependencies-complete', generation) }, signal);
}

/** The mark goes first: a crash in between leaves an incomplete volume, never a mark on nothing. */
export async function removeDependencyVolume(engine: EngineConnection, name: string): Promise<void> {
  await removeNamedVolume(engine, markOf(name));
  await removeNamedVolume(engine, name);
}

/** Names of the project's dependency volumes, complete or not, sorted. */
export async function listDependencyVolumes(
  engine: EngineConnection,
  projectId: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const filters = { label: [`${LABEL.project}=${projectId}`, `${LABEL.volume}=dependencies`] };
  const call = { doing: `list the dependency volumes of project ${projectId}`, timeoutMs: TIMEOUT_MS, signal };
  const { Volumes } = await callEngine(call, () => engine.docker.listVolumes({ filters }));
  return (Volumes ?? []).map((volume) => volume.Name).sort();
}

function markOf(name: string): string {
  return `${name}.complete`;
}

function kindLabels(kind: 'dependencies' | 'dependencies-complete', generation: string): Record<string, string> {
  return { [LABEL.volume]: kind, [LABEL.generation]: generation };
}

async function find(engine: EngineConnection, name: string, signal: AbortSignal): Promise<FoundVolume | null> {
  return callEngine({ doing: `inspect volume ${name}`, timeoutMs: TIMEOUT_MS, signal }, async () => {
    try {
      const { Labels } = await engine.docker.getVolume(name).inspect();
      return { labels: Labels ?? {} };
    } catch (cause) {
      if (engineStatus(cause) === 404) return null;
      throw cause;
    }
  });
}

async function create(
  engine: EngineConnection,
  name: string,
  labels: Record<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const doing = `create volume ${name}`;
  if (signal.aborted) throw cancelled(doing);
  await callEngine({ doing, timeoutMs: TIMEOUT_MS }, () =>
    engine.docker.createVolume({ Name: name, Driver: 'local', DriverOpts: {}, Labels: labels }),
  );
}

function refuseForeign(name: string, volume: FoundVolume | null, projectId: string): void {
  if (volume === null || volume.labels[LABEL.project] === projectId) return;
  throw failure(
    'engine_failed',
    `the engine already has a volume ${name} that is not of this project`,
    'rename or remove that volume; it is left alone',
  );
}
