import type { Readable } from 'node:stream';
import type { Result } from '../domain/result.ts';

/** What the engine found when it looked for a container engine. */
export interface ContainerEngineInfo {
  readonly kind: 'docker' | 'podman';
  readonly version: string;
  readonly apiVersion: string;
  /** Where it was reached, for display: a socket path or a tcp address without credentials. */
  readonly endpoint: string;
  readonly cgroupVersion: 1 | 2;
  readonly ociRuntime: string;
}

export type RuntimeErrorCode =
  | 'engine_unavailable'
  | 'oci_runtime_missing'
  | 'image_not_pinned'
  | 'image_missing'
  | 'image_contract'
  | 'unbounded_volume'
  | 'engine_failed'
  | 'container_gone'
  | 'cancelled';

export interface RuntimeError {
  readonly code: RuntimeErrorCode;
  /** What was being done to which thing, and what the engine answered. */
  readonly message: string;
  readonly remedy: string;
}

export interface PinnedImage {
  /** `sha256:<64 hex>` image id, or `name@sha256:<64 hex>`, as given. */
  readonly reference: string;
  /** `sha256:<64 hex>`: the local image id that containers are made from. */
  readonly imageId: string;
  readonly sizeBytes: number;
}

/** The labels reconciliation goes by; nothing without the project label of this project is ever touched. */
export interface RoomLabels {
  readonly projectId: string;
  /** Id of the engine instance (one per process start) that made it. */
  readonly engineInstance: string;
  readonly runId: string;
  /** Session id, or test run id, or prepare key: what the room was made for. */
  readonly ownerId: string;
  readonly kind: RoomKind;
  /** RFC 3339 UTC. */
  readonly createdAt: string;
}

export type RoomKind = 'session' | 'test' | 'prepare' | 'probe';

/** Numbers of the `sandbox:` configuration block. MiB unless the name says otherwise. */
export interface RoomLimits {
  readonly memoryMiB: number;
  readonly cpus: number;
  readonly pids: number;
  readonly nofile: number;
  readonly shmMiB: number;
  readonly workspaceMiB: number;
  readonly tempMiB: number;
  readonly homeMiB: number;
}

export interface RoomSpec {
  readonly labels: RoomLabels;
  readonly image: PinnedImage;
  readonly limits: RoomLimits;
  /** Host directory mounted read-only at `/roundtable/source`; its contents are also the workspace's first state. */
  readonly sourceDir: string;
  /** A volume of prepared dependencies at `<workspace>/<dir>`; writable only while it is being prepared. */
  readonly dependencies: { readonly volume: string; readonly dir: string; readonly writable: boolean } | null;
  /** Host directories for the bridge bundle and the session's sockets, mounted read-only; null when neither is used. */
  readonly bridgeDir: string | null;
  readonly socketDir: string | null;
  /** Engine name of a stricter seccomp profile file on the host, or null for the engine's default. */
  readonly seccompProfile: string | null;
  readonly allowUnboundedVolumes: boolean;
}

/** Fixed places inside every room. */
export const ROOM_PATHS = {
  source: '/roundtable/source',
  workspace: '/roundtable/workspace',
  temp: '/tmp',
  home: '/home/agent',
  bridge: '/roundtable/bridge',
  sockets: '/run/roundtable',
} as const;

export interface ExecSpec {
  /** Argument vector; never parsed by a shell. */
  readonly argv: readonly [string, ...string[]];
  /** The whole environment of the process, built from nothing. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path inside the room. */
  readonly cwd: string;
  /** Bytes for stdin, then end of file; null closes it at once. */
  readonly stdin: Uint8Array | null;
}

export interface ExecExit {
  /** 0–255; 128 + signal for a process that was killed; null when the room vanished first. */
  readonly exitCode: number | null;
}

/** A process in a room. Streams must be consumed; a slow reader holds the process back (no unbounded buffering). */
export interface RunningExec {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly done: Promise<Result<ExecExit, RuntimeError>>;
}

export interface RoomStatus {
  readonly state: 'running' | 'paused' | 'exited' | 'gone';
  readonly oomKilled: boolean;
}

/** One sealed container with its volumes. Every call is safe to repeat; `remove` also works on a half-made room. */
export interface Room {
  readonly containerId: string;
  /** Names of the volumes made for it, in order of creation. */
  readonly volumes: readonly string[];
  /** Copies the source directory into the workspace volume as uid 1000 and, if the image has git, makes a one-commit repository. */
  seedWorkspace(signal: AbortSignal): Promise<Result<void, RuntimeError>>;
  /** Writes small files (0400, uid 1000) into home or temp, e.g. a prompt file. Keys are absolute room paths. */
  seedFiles(files: Readonly<Record<string, Uint8Array>>, signal: AbortSignal): Promise<Result<void, RuntimeError>>;
  /** Runs as uid 1000:1000 without groups. */
  exec(spec: ExecSpec, signal: AbortSignal): Promise<Result<RunningExec, RuntimeError>>;
  pause(): Promise<Result<void, RuntimeError>>;
  unpause(): Promise<Result<void, RuntimeError>>;
  /** SIGTERM to the agent's process groups, waits up to graceMs, then SIGKILL to everything of uid 1000. */
  killAgent(graceMs: number): Promise<Result<void, RuntimeError>>;
  /** Tar stream of the workspace; the room must be paused (an export of a running volume may be corrupt). */
  exportWorkspace(signal: AbortSignal): Promise<Result<Readable, RuntimeError>>;
  status(): Promise<Result<RoomStatus, RuntimeError>>;
  /** Removes container and volumes. Dependencies volumes stay. */
  remove(): Promise<Result<void, RuntimeError>>;
}

/** Something on the engine that carries this project's labels. */
export interface OwnedRoom {
  readonly containerId: string | null;
  readonly volumes: readonly string[];
  readonly labels: RoomLabels;
  readonly state: RoomStatus['state'];
}

export interface ContainerRuntime {
  info(signal: AbortSignal): Promise<Result<ContainerEngineInfo, RuntimeError>>;
  /** Accepts a digest or a local image id only; a mutable tag is `image_not_pinned`. Never pulls. */
  resolveImage(reference: string, signal: AbortSignal): Promise<Result<PinnedImage, RuntimeError>>;
  /** Volumes, container, start, in that order, each undone in reverse when a later one fails or the signal fires. */
  createRoom(spec: RoomSpec, signal: AbortSignal): Promise<Result<Room, RuntimeError>>;
  /** All rooms of the project (containers, and volumes without container), any engine instance. */
  listOwned(projectId: string, signal: AbortSignal): Promise<Result<readonly OwnedRoom[], RuntimeError>>;
  /** Reattaches to a room found by `listOwned`, to export what it still holds and remove it. */
  adopt(owned: OwnedRoom): Room;
  /** Named local disk volume for prepared dependencies, labelled; `created` false when it was already there and complete. */
  ensureDependencyVolume(
    name: string,
    labels: RoomLabels,
    signal: AbortSignal,
  ): Promise<Result<{ readonly created: boolean }, RuntimeError>>;
  /** Declares a volume's contents whole; until then a volume counts as not there, also after a crash. */
  completeDependencyVolume(name: string, signal: AbortSignal): Promise<Result<void, RuntimeError>>;
  removeVolume(name: string): Promise<Result<void, RuntimeError>>;
  listDependencyVolumes(projectId: string, signal: AbortSignal): Promise<Result<readonly string[], RuntimeError>>;
  close(): void;
}
