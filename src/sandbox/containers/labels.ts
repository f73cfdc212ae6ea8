import type { RoomKind, RoomLabels } from '../../engine/ports/container-runtime.ts';

/** What reconciliation goes by. Nothing without the project's label is ever touched. */
export const LABEL = {
  project: 'dev.roundtable.project',
  run: 'dev.roundtable.run',
  owner: 'dev.roundtable.owner',
  kind: 'dev.roundtable.kind',
  instance: 'dev.roundtable.instance',
  created: 'dev.roundtable.created',
  /** Ties the volumes of a room to it, also when the container is gone. */
  room: 'dev.roundtable.room',
  /** `dependencies` or `dependencies-complete` on volumes that outlive rooms. */
  volume: 'dev.roundtable.volume',
  /** Which making of a dependency volume a completion mark belongs to. */
  generation: 'dev.roundtable.generation',
} as const;

export type EngineLabels = Readonly<Record<string, string>>;

export function toEngineLabels(labels: RoomLabels): Record<string, string> {
  return {
    [LABEL.project]: labels.projectId,
    [LABEL.run]: labels.runId,
    [LABEL.owner]: labels.ownerId,
    [LABEL.kind]: labels.kind,
    [LABEL.instance]: labels.engineInstance,
    [LABEL.created]: labels.createdAt,
  };
}

const KINDS: readonly string[] = ['session', 'test', 'prepare', 'probe'] satisfies RoomKind[];

/** Null when the labels aren't a complete set of ours: then the thing isn't ours to touch. */
export function fromEngineLabels(labels: EngineLabels | null | undefined): RoomLabels | null {
  if (!labels) return null;
  const projectId = labels[LABEL.project];
  const runId = labels[LABEL.run];
  const ownerId = labels[LABEL.owner];
  const kind = labels[LABEL.kind];
  const engineInstance = labels[LABEL.instance];
  const createdAt = labels[LABEL.created];
  if (!projectId || runId === undefined || ownerId === undefined || !isKind(kind)) return null;
  if (engineInstance === undefined || createdAt === undefined) return null;
  return { projectId, runId, ownerId, kind, engineInstance, createdAt };
}

function isKind(text: string | undefined): text is RoomKind {
  return text !== undefined && KINDS.includes(text);
}
