import type { ContainerRuntime, Room } from '../../engine/ports/container-runtime.ts';
import { createRoom } from './create-room.ts';
import {
  completeDependencyVolume,
  ensureDependencyVolume,
  listDependencyVolumes,
  removeDependencyVolume,
} from './dependency-volumes.ts';
import { connectEngine, type EngineConnection, type EngineOptions } from './engine-connection.ts';
import { ExecGate } from './exec-gate.ts';
import { type ImageDemands, imageDemands, refuseUnpinned, resolvePinnedImage } from './images.ts';
import { listOwnedRooms } from './owned-rooms.ts';
import { makeRoom, type RoomHandle, settle } from './room.ts';

/**
 * The container engine as the rest of the program sees it. Nothing is contacted before the first call; an engine that
 * was not there is looked for again by the next one.
 */
export function createContainerRuntime(options: EngineOptions): ContainerRuntime {
  let connecting: Promise<EngineConnection> | null = null;
  const connect = (): Promise<EngineConnection> => {
    if (connecting === null) {
      const attempt = connectEngine(options);
      connecting = attempt;
      attempt.catch(() => {
        if (connecting === attempt) connecting = null;
      });
    }
    return connecting;
  };

  // An image id names its contents, so what it demands can't change.
  const demands = new Map<string, ImageDemands>();
  const demandsOf = async (imageId: string, signal: AbortSignal): Promise<ImageDemands> => {
    const known = demands.get(imageId) ?? (await imageDemands(await connect(), imageId, signal));
    demands.set(imageId, known);
    return known;
  };

  const gates = new Map<string, WeakRef<ExecGate>>();
  const gateOf = (containerId: string): ExecGate => {
    const gate = gates.get(containerId)?.deref() ?? new ExecGate();
    gates.set(containerId, new WeakRef(gate));
    return gate;
  };
  const roomOf = (handle: RoomHandle): Room => makeRoom(handle, { connect, gate: gateOf(handle.containerId) });

  return {
    info: () => settle(async () => (await connect()).info),
    resolveImage: (reference, signal) =>
      settle(async () => {
        refuseUnpinned(reference); // whether or not an engine is there
        return resolvePinnedImage(await connect(), reference, signal);
      }),
    createRoom: (spec, signal) =>
      settle(async () => {
        const engine = await connect();
        return roomOf(await createRoom({ engine, ociRuntime: options.ociRuntime, demandsOf }, spec, signal));
      }),
    listOwned: (projectId, signal) => settle(async () => listOwnedRooms(await connect(), projectId, signal)),
    adopt: (owned) => roomOf({ containerId: owned.containerId ?? '', volumes: owned.volumes, seed: null }),
    ensureDependencyVolume: (name, labels, signal) =>
      settle(async () => ensureDependencyVolume(await connect(), name, labels, signal)),
    completeDependencyVolume: (name, signal) =>
      settle(async () => completeDependencyVolume(await connect(), name, signal)),
    removeVolume: (name) => settle(async () => removeDependencyVolume(await connect(), name)),
    listDependencyVolumes: (projectId, signal) =>
      settle(async () => listDependencyVolumes(await connect(), projectId, signal)),
    close: () => {
      const closing = connecting;
      connecting = null;
      closing?.then(
        (engine) => engine.close(),
        () => {},
      );
    },
  };
}
