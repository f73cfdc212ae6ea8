import { describe, expect, it } from 'vitest';
import { DEFAULT_ROOM_LIMITS } from '../../../src/engine/domain/room-limits.ts';
import type { RoomSpec } from '../../../src/engine/ports/container-runtime.ts';
import { type HardeningInput, roomSpecification } from '../../../src/sandbox/hardening.ts';

const MIB = 1024 * 1024;
const IMAGE_ID = `sha256:${'a'.repeat(64)}`;

const SPEC: RoomSpec = {
  labels: {
    projectId: 'p1',
    engineInstance: 'e1',
    runId: 'R-1',
    ownerId: 'S-7',
    kind: 'session',
    createdAt: '2026-03-01T09:30:00.000Z',
  },
  image: { reference: IMAGE_ID, imageId: IMAGE_ID, sizeBytes: 1 },
  limits: DEFAULT_ROOM_LIMITS,
  sourceDir: '/state/S-7/source',
  dependencies: null,
  bridgeDir: null,
  socketDir: null,
  seccompProfile: null,
  allowUnboundedVolumes: false,
};

function specification(spec: Partial<RoomSpec> = {}, input: Partial<HardeningInput> = {}) {
  return roomSpecification({
    spec: { ...SPEC, ...spec },
    roomName: 'room',
    engineKind: 'docker',
    ociRuntime: null,
    seccompProfile: null,
    image: { envNames: [], volumePaths: [] },
    ...input,
  });
}

describe('the specification of a room', () => {
  const { container, volumes } = specification();
  const host = container.HostConfig ?? {};

  it.each<[string, unknown, unknown]>([
    ['drops every capability', host.CapDrop, ['ALL']],
    ['adds no capability', host.CapAdd, []],
    ['forbids new privileges and keeps the default seccomp profile', host.SecurityOpt, ['no-new-privileges']],
    ['is not privileged', host.Privileged, false],
    ['passes no device', host.Devices, []],
    ['has no network', host.NetworkMode, 'none'],
    ['has its network switched off', container.NetworkDisabled, true],
    ['has a read-only root', host.ReadonlyRootfs, true],
    ['shares no IPC namespace', host.IpcMode, 'private'],
    ['shares no process namespace', host.PidMode, ''],
    ['bounds processes', host.PidsLimit, 256],
    ['bounds memory by the limit plus its tmpfs volumes', host.Memory, (2048 + 1024 + 512 + 256) * MIB],
    ['has no swap', host.MemorySwap, host.Memory],
    ['bounds CPUs', host.NanoCpus, 2e9],
    ['bounds shared memory', host.ShmSize, 16 * MIB],
    ['keeps no log on the engine', host.LogConfig, { Type: 'none', Config: {} }],
    ['is never restarted', host.RestartPolicy, { Name: 'no' }],
    ['gives the agent no extra group', host.GroupAdd, []],
    ['binds nothing in the old way', host.Binds, []],
    ['runs PID 1 as another user than the agent', container.User, '65534:65534'],
    ['has no variable but PATH', container.Env, ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin']],
    ['runs no health check of the image', container.Healthcheck, { Test: ['NONE'] }],
    ['uses the image by its id', container.Image, IMAGE_ID],
    ['has no terminal', container.Tty, false],
  ])('%s', (_, actual, wanted) => {
    expect(actual).toEqual(wanted);
  });

  it('bounds open files hard and writes no core', () => {
    expect(host.Ulimits).toEqual([
      { Name: 'nofile', Soft: 4096, Hard: 4096 },
      { Name: 'core', Soft: 0, Hard: 0 },
    ]);
  });

  it('has a PID 1 that reaps', () => {
    expect(container.Entrypoint).toEqual(['sh', '-c', 'while :; do sleep 3600 & wait; done']);
  });

  it('makes three bounded volumes for the agent alone', () => {
    expect(volumes.map((volume) => [volume.Name, volume.DriverOpts])).toEqual([
      ['room-workspace', tmpfs('size=1024m')],
      ['room-temp', tmpfs('size=512m')],
      ['room-home', tmpfs('size=256m')],
    ]);
  });

  it('labels container and volumes alike, with the room they belong to', () => {
    const labels = {
      'dev.roundtable.project': 'p1',
      'dev.roundtable.run': 'R-1',
      'dev.roundtable.owner': 'S-7',
      'dev.roundtable.kind': 'session',
      'dev.roundtable.instance': 'e1',
      'dev.roundtable.created': '2026-03-01T09:30:00.000Z',
      'dev.roundtable.room': 'room',
    };
    expect(container.Labels).toEqual(labels);
    for (const volume of volumes) expect(volume.Labels).toEqual(labels);
  });

  it('mounts the source read-only and nothing else of the host', () => {
    const binds = (host.Mounts ?? []).filter((mount) => mount.Type === 'bind');
    expect(binds.map(({ Source, Target, ReadOnly }) => ({ Source, Target, ReadOnly }))).toEqual([
      { Source: '/state/S-7/source', Target: '/roundtable/source', ReadOnly: true },
    ]);
  });

  it('never copies the contents of the image into a volume', () => {
    const named = (host.Mounts ?? []).filter((mount) => mount.Type === 'volume');
    expect(named).toHaveLength(3);
    for (const mount of named) expect(mount.VolumeOptions?.NoCopy).toBe(true);
  });
});

describe('variations of a room', () => {
  const mountAt = (target: string, spec: Partial<RoomSpec>, input: Partial<HardeningInput> = {}) =>
    specification(spec, input).container.HostConfig?.Mounts?.find((mount) => mount.Target === target);

  it('mounts bridge and sockets read-only', () => {
    expect(mountAt('/roundtable/bridge', { bridgeDir: '/b' })).toMatchObject({ Source: '/b', ReadOnly: true });
    expect(mountAt('/run/roundtable', { socketDir: '/s' })).toMatchObject({ Source: '/s', ReadOnly: true });
  });

  it.each([true, false])('mounts dependencies writable only while they are prepared (%s)', (writable) => {
    const dependencies = { volume: 'deps', dir: 'node_modules', writable };
    expect(mountAt('/roundtable/workspace/node_modules', { dependencies })).toMatchObject({
      Type: 'volume',
      Source: 'deps',
      ReadOnly: !writable,
    });
  });

  it('adds a stricter seccomp profile as text', () => {
    const { container } = specification({}, { seccompProfile: '{"defaultAction":"SCMP_ACT_ERRNO"}' });
    expect(container.HostConfig?.SecurityOpt).toEqual([
      'no-new-privileges',
      'seccomp={"defaultAction":"SCMP_ACT_ERRNO"}',
    ]);
  });

  it('uses another OCI runtime when asked to', () => {
    expect(specification({}, { ociRuntime: 'runsc' }).container.HostConfig?.Runtime).toBe('runsc');
  });

  it('takes the variables of the image away', () => {
    const image = { envNames: ['PATH', 'NODE_OPTIONS', 'LD_PRELOAD'], volumePaths: [] };
    expect(specification({}, { image }).container.Env?.slice(1)).toEqual(['NODE_OPTIONS', 'LD_PRELOAD']);
  });

  it('covers volumes of the image with something small and read-only, unless ours lies there', () => {
    const image = { envNames: [], volumePaths: ['/data', '/tmp'] };
    expect(mountAt('/data', {}, { image })).toMatchObject({ Type: 'tmpfs', ReadOnly: true });
    expect(mountAt('/tmp', {}, { image })).toMatchObject({ Type: 'volume' });
  });

  it('leaves out what Podman refuses', () => {
    const { volumes, container } = specification({}, { engineKind: 'podman' });
    expect(volumes[0]?.DriverOpts).toEqual(tmpfs(null));
    expect(container.HostConfig).not.toHaveProperty('CgroupnsMode');
  });
});

function tmpfs(size: string | null) {
  const o = [...(size === null ? [] : [size]), 'uid=1000', 'gid=1000', 'mode=0700', 'nosuid', 'nodev'].join(',');
  return { type: 'tmpfs', device: 'tmpfs', o };
}
