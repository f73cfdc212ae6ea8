import type { PinnedImage, RoomKind, RoomLabels, RoomSpec } from '../ports/container-runtime.ts';
import type { WorkDeps } from './deps.ts';

/** The labels of a room that this engine instance makes. */
export function roomLabels(deps: WorkDeps, kind: RoomKind, runId: string, ownerId: string): RoomLabels {
  return {
    projectId: deps.projectId,
    engineInstance: deps.engineInstance,
    runId,
    ownerId,
    kind,
    createdAt: deps.clock.now(),
  };
}

/** A room without any way out; callers add dependencies or sockets where they are needed. */
export function roomSpec(
  deps: WorkDeps,
  parts: {
    readonly labels: RoomLabels;
    readonly image: PinnedImage;
    readonly sourceDir: string;
    readonly dependencies?: RoomSpec['dependencies'];
    readonly socketDir?: string;
  },
): RoomSpec {
  const settings = deps.settings.current();
  return {
    labels: parts.labels,
    image: parts.image,
    limits: settings.room,
    sourceDir: parts.sourceDir,
    dependencies: parts.dependencies ?? null,
    bridgeDir: parts.socketDir === undefined ? null : deps.bridgeDir,
    socketDir: parts.socketDir ?? null,
    seccompProfile: settings.seccompProfile,
    allowUnboundedVolumes: settings.allowUnboundedVolumes,
  };
}

/** Environment of a command that is not an agent: built from nothing. */
export const COMMAND_ENV: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/home/agent',
  LANG: 'C.UTF-8',
  CI: '1',
};
