import type { ContainerCreateOptions, MountSettings, VolumeCreateOptions } from 'dockerode';
import { ROOM_PATHS, type RoomSpec } from '../engine/ports/container-runtime.ts';
import { LABEL, toEngineLabels } from './containers/labels.ts';

/** The agent's programs. Numeric and with a group, so that the image's /etc/passwd and /etc/group grant nothing. */
export const AGENT_USER = '1000:1000';
export const AGENT_UID = 1000;
/** PID 1 belongs to somebody else, so that the agent can neither kill nor trace it. */
const IDLE_USER = '65534:65534';
export const ROOM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A loop that reaps what is left to it: under plain `sleep`, zombies would fill the pid limit and programs would hang. */
const IDLE_LOOP = ['sh', '-c', 'while :; do sleep 3600 & wait; done'];

const MIB = 1024 * 1024;

export interface HardeningInput {
  readonly spec: RoomSpec;
  /** Name of the container; its volumes are called `<roomName>-<purpose>`. */
  readonly roomName: string;
  readonly engineKind: 'docker' | 'podman';
  readonly ociRuntime: string | null;
  /** JSON text of a stricter seccomp profile; null for the engine's default. */
  readonly seccompProfile: string | null;
  /** What the image asks for and doesn't get: its variables, its own volumes. */
  readonly image: { readonly envNames: readonly string[]; readonly volumePaths: readonly string[] };
}

export interface RoomSpecification {
  readonly volumes: readonly VolumeCreateOptions[];
  readonly container: ContainerCreateOptions;
}

/** Everything that the engine is told about a room. No other function states a limit or a privilege. Pure. */
export function roomSpecification(input: HardeningInput): RoomSpecification {
  const labels = { ...toEngineLabels(input.spec.labels), [LABEL.room]: input.roomName };
  return {
    volumes: scratchVolumes(input).map(({ name, sizeMiB }) => ({
      Name: name,
      Driver: 'local',
      DriverOpts: { type: 'tmpfs', device: 'tmpfs', o: tmpfsOptions(input, sizeMiB) },
      Labels: labels,
    })),
    container: {
      name: input.roomName,
      Image: input.spec.image.imageId,
      Entrypoint: IDLE_LOOP,
      Cmd: [],
      User: IDLE_USER,
      WorkingDir: '/',
      Env: containerEnvironment(input.image.envNames),
      Hostname: 'roundtable',
      Labels: labels,
      NetworkDisabled: true,
      // A health check of the image would run its program as PID 1's user.
      Healthcheck: { Test: ['NONE'] },
      AttachStdin: false,
      AttachStdout: false,
      AttachStderr: false,
      OpenStdin: false,
      Tty: false,
      HostConfig: hostConfig(input),
    },
  };
}

function hostConfig(input: HardeningInput): ContainerCreateOptions['HostConfig'] {
  const { limits } = input.spec;
  const memory = (limits.memoryMiB + limits.workspaceMiB + limits.tempMiB + limits.homeMiB) * MIB;
  return {
    ...(input.ociRuntime === null ? {} : { Runtime: input.ociRuntime }),
    NetworkMode: 'none',
    IpcMode: 'private',
    PidMode: '',
    UTSMode: '',
    UsernsMode: '',
    ...(input.engineKind === 'docker' ? { CgroupnsMode: 'private' as const } : {}),
    Privileged: false,
    CapAdd: [],
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges', ...(input.seccompProfile === null ? [] : [`seccomp=${input.seccompProfile}`])],
    Devices: [],
    DeviceRequests: [],
    GroupAdd: [],
    ReadonlyRootfs: true,
    PublishAllPorts: false,
    Init: false,
    AutoRemove: false,
    RestartPolicy: { Name: 'no' },
    LogConfig: { Type: 'none', Config: {} },
    // tmpfs pages count towards the memory of the container that wrote them.
    Memory: memory,
    // Equal to Memory: no swap.
    MemorySwap: memory,
    NanoCpus: Math.round(limits.cpus * 1e9),
    PidsLimit: limits.pids,
    ShmSize: limits.shmMiB * MIB,
    // Podman inherits the ulimits of its service unless each is given.
    Ulimits: [
      { Name: 'nofile', Soft: limits.nofile, Hard: limits.nofile },
      { Name: 'core', Soft: 0, Hard: 0 },
    ],
    Binds: [],
    Mounts: mounts(input),
  };
}

function mounts(input: HardeningInput): MountSettings[] {
  const { spec } = input;
  const scratch = scratchVolumes(input).map(
    ({ name, target }): MountSettings => ({
      Type: 'volume',
      Source: name,
      Target: target,
      ReadOnly: false,
      VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: 'local', Options: {} } },
    }),
  );
  const list = [...scratch, readOnlyBind(spec.sourceDir, ROOM_PATHS.source)];
  if (spec.bridgeDir !== null) list.push(readOnlyBind(spec.bridgeDir, ROOM_PATHS.bridge));
  if (spec.socketDir !== null) list.push(readOnlyBind(spec.socketDir, ROOM_PATHS.sockets));
  if (spec.dependencies !== null) {
    list.push({
      Type: 'volume',
      Source: spec.dependencies.volume,
      Target: `${ROOM_PATHS.workspace}/${spec.dependencies.dir}`,
      ReadOnly: !spec.dependencies.writable,
      VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: 'local', Options: {} } },
    });
  }
  // A VOLUME of the image would be a writable place on the host's disk without a bound.
  const taken = new Set(list.map((mount) => mount.Target));
  for (const target of input.image.volumePaths) {
    if (taken.has(target)) continue;
    list.push({
      Type: 'tmpfs',
      Source: '',
      Target: target,
      ReadOnly: true,
      TmpfsOptions: { SizeBytes: MIB, Mode: 0o555 },
    });
  }
  return list;
}

function readOnlyBind(source: string, target: string): MountSettings {
  return { Type: 'bind', Source: source, Target: target, ReadOnly: true, BindOptions: { Propagation: 'rprivate' } };
}

interface ScratchVolume {
  readonly name: string;
  readonly target: string;
  readonly sizeMiB: number;
}

/** Named volumes, not `HostConfig.Tmpfs`: archives can be put into them and taken out of them. */
function scratchVolumes({ roomName, spec }: HardeningInput): readonly ScratchVolume[] {
  return [
    { name: `${roomName}-workspace`, target: ROOM_PATHS.workspace, sizeMiB: spec.limits.workspaceMiB },
    { name: `${roomName}-temp`, target: ROOM_PATHS.temp, sizeMiB: spec.limits.tempMiB },
    { name: `${roomName}-home`, target: ROOM_PATHS.home, sizeMiB: spec.limits.homeMiB },
  ];
}

/** Podman 4 refuses `size=` on volumes and leaves the refused volume behind; the caller has asked for permission by then. */
function tmpfsOptions({ engineKind }: HardeningInput, sizeMiB: number): string {
  const size = engineKind === 'podman' ? [] : [`size=${sizeMiB}m`];
  return [...size, `uid=${AGENT_UID}`, `gid=${AGENT_UID}`, 'mode=0700', 'nosuid', 'nodev'].join(',');
}

/**
 * A name without a value takes the image's variable away: execs inherit what the container has, and theirs must be
 * built from nothing.
 */
function containerEnvironment(imageNames: readonly string[]): string[] {
  const unset = imageNames.filter((name) => name !== 'PATH' && name !== '');
  return [`PATH=${ROOM_PATH}`, ...unset];
}
