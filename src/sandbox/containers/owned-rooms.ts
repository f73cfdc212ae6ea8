import type { OwnedRoom, RoomLabels, RoomStatus } from '../../engine/ports/container-runtime.ts';
import { callEngine } from './engine-call.ts';
import type { EngineConnection } from './engine-connection.ts';
import { fromEngineLabels, LABEL } from './labels.ts';

const LIST_TIMEOUT_MS = 30_000;

/** Every room of the project on the engine, by whichever process it was made; also volumes that lost their container. */
export async function listOwnedRooms(
  engine: EngineConnection,
  projectId: string,
  signal: AbortSignal,
): Promise<readonly OwnedRoom[]> {
  const filters = { label: [`${LABEL.project}=${projectId}`] };
  const call = { doing: `list what project ${projectId} has on the engine`, timeoutMs: LIST_TIMEOUT_MS, signal };
  const [containers, volumes] = await callEngine(call, () =>
    Promise.all([engine.docker.listContainers({ all: true, filters }), engine.docker.listVolumes({ filters })]),
  );
  const rooms = new Map<string, MutableRoom>();
  const roomOf = (labels: Readonly<Record<string, string>> | null): MutableRoom | null => {
    const ours = fromEngineLabels(labels);
    const name = labels?.[LABEL.room];
    // The engine has filtered already; asking again costs nothing and a foreign project's thing must never be touched.
    if (!ours || !name || ours.projectId !== projectId) return null;
    const room = rooms.get(name) ?? { containerId: null, volumes: [], labels: ours, state: 'gone' };
    rooms.set(name, room);
    return room;
  };
  for (const container of containers) {
    const room = roomOf(container.Labels);
    if (!room) continue;
    room.containerId = container.Id;
    room.state = stateOf(container.State);
  }
  for (const volume of volumes.Volumes ?? []) roomOf(volume.Labels)?.volumes.push(volume.Name);
  for (const room of rooms.values()) room.volumes.sort();
  return [...rooms.values()];
}

interface MutableRoom {
  containerId: string | null;
  readonly volumes: string[];
  readonly labels: RoomLabels;
  state: RoomStatus['state'];
}

function stateOf(engineState: string): RoomStatus['state'] {
  if (engineState === 'running' || engineState === 'restarting') return 'running';
  return engineState === 'paused' ? 'paused' : 'exited';
}
