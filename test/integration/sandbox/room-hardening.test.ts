import { rm } from 'node:fs/promises';
import Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Room } from '../../../src/engine/ports/container-runtime.ts';
import {
  containerTestsEnabled,
  removeTestProject,
  TEST_LIMITS,
  testImage,
  testProjectId,
  testRoomSpec,
  testRuntime,
} from '../../support/container.ts';
import { makeSource, must, sh } from '../../support/room.ts';

const MIB = 1024 * 1024;

describe.skipIf(!containerTestsEnabled())('a room, looked at from inside and from outside', () => {
  const runtime = testRuntime();
  const project = testProjectId();
  let source = '';
  let room: Room;

  beforeAll(async () => {
    source = await makeSource();
    const signal = AbortSignal.timeout(120_000);
    room = must(await runtime.createRoom(testRoomSpec(project, await testImage(), source), signal));
    must(await room.seedWorkspace(signal));
  });

  afterAll(async () => {
    await removeTestProject(runtime, project);
    runtime.close();
    await rm(source, { recursive: true, force: true });
  });

  it('leaves the agent no privilege', async () => {
    const { stdout } = await sh(room, 'grep -E "^(Cap|NoNewPrivs|Seccomp:|Uid|Gid|Groups)" /proc/self/status');
    const status = Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(/:\s*/, 2)),
    );
    const none = '0000000000000000';
    expect(status).toMatchObject({ CapInh: none, CapPrm: none, CapEff: none, CapBnd: none, CapAmb: none });
    expect(status).toMatchObject({ NoNewPrivs: '1', Seccomp: '2' });
    expect(status.Uid).toMatch(/^1000\s1000\s1000\s1000$/);
    expect(status.Gid).toMatch(/^1000\s1000\s1000\s1000$/);
    expect(status.Groups?.trim()).toMatch(/^(1000)?$/);
  });

  it('has a loopback interface and no other, and no way out', async () => {
    const { stdout } = await sh(room, 'ls /sys/class/net; wc -l < /proc/net/route');
    expect(stdout.trim().split('\n')).toEqual(['lo', '1']);
    const { exitCode } = await sh(room, 'nc -w 2 192.0.2.1 80 < /dev/null');
    expect(exitCode).not.toBe(0);
  });

  it.each([
    ['the root', '/x'],
    ['the programs', '/usr/bin/x'],
    ['the source', '/roundtable/source/x'],
    ['the configuration of the system', '/etc/x'],
    ['devices', '/dev/x'],
    ['kernel settings', '/proc/sys/kernel/hostname'],
    ['control groups', '/sys/fs/cgroup/x'],
  ])('does not let the agent write to %s', async (_, file) => {
    const { exitCode, stderr } = await sh(room, `echo x > ${file}`);
    expect(exitCode).not.toBe(0);
    expect(stderr).toMatch(/read-only|permission denied|can't create|nonexistent/i);
  });

  it.each(['/roundtable/workspace', '/tmp', '/home/agent'])(
    'lets the agent write to %s, without devices or setuid',
    async (dir) => {
      const { stdout, exitCode } = await sh(
        room,
        `echo x > ${dir}/x && rm ${dir}/x && grep " ${dir} " /proc/self/mountinfo`,
      );
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/nosuid,nodev/);
    },
  );

  it('bounds what the agent may use', async () => {
    const script = 'ulimit -n; ulimit -c; cat /sys/fs/cgroup/pids/pids.max 2>/dev/null || cat /sys/fs/cgroup/pids.max';
    expect((await sh(room, script)).stdout.trim().split('\n')).toEqual(['4096', '0', '256']);
    const memory = 'cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max';
    const { memoryMiB, workspaceMiB, tempMiB, homeMiB } = TEST_LIMITS;
    expect(Number((await sh(room, memory)).stdout)).toBe((memoryMiB + workspaceMiB + tempMiB + homeMiB) * MIB);
    expect((await sh(room, 'df -k /dev/shm | tail -1')).stdout).toMatch(/ 16384 /);
  });

  it('has a first process that the agent can neither kill, trace nor look into', async () => {
    const { stdout, stderr } = await sh(
      room,
      'kill -9 1; kill -9 -1; cat /proc/1/environ; ls /proc/1/fd; echo still here',
    );
    expect(stdout).toBe('still here\n');
    expect(stderr).toMatch(/can't kill pid 1: Operation not permitted/);
    expect(stderr.match(/Permission denied/g)).toHaveLength(2);
    expect(must(await room.status()).state).toBe('running');
  });

  it('gives a program the environment it was given and nothing else', async () => {
    const { stdout } = await sh(room, 'env');
    const names = stdout
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]);
    // HOSTNAME comes from the engine and is a constant; PWD and SHLVL come from the shell.
    expect(names.sort()).toEqual(['HOME', 'HOSTNAME', 'LANG', 'PATH', 'PWD', 'SHLVL']);
  });

  it('is seen by the engine as it was specified', async () => {
    const found = await new Docker().getContainer(room.containerId).inspect();
    expect(found.HostConfig).toMatchObject({
      CapDrop: ['ALL'],
      NetworkMode: 'none',
      Privileged: false,
      ReadonlyRootfs: true,
      IpcMode: 'private',
      PidMode: '',
      PidsLimit: 256,
      NanoCpus: 2e9,
      ShmSize: 16 * MIB,
      LogConfig: { Type: 'none' },
      RestartPolicy: { Name: 'no' },
      SecurityOpt: ['no-new-privileges'],
    });
    expect(found.HostConfig.MemorySwap).toBe(found.HostConfig.Memory);
    expect(found.HostConfig.CapAdd ?? []).toEqual([]);
    expect(found.HostConfig.Devices ?? []).toEqual([]);
    expect(found.HostConfig.MaskedPaths).toContain('/proc/kcore');
    expect(found.HostConfig.ReadonlyPaths).toContain('/proc/sys');
    expect(found.Config.User).toBe('65534:65534');
    expect(found.Config.Env).toEqual(['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin']);
    expect(found.Config.Labels['dev.roundtable.project']).toBe(project);
    expect(found.NetworkSettings.Networks).toEqual({});
    const mounts = found.Mounts.map((mount) => [mount.Type, mount.Destination, mount.RW]);
    expect(mounts.sort()).toEqual(
      [
        ['volume', '/home/agent', true],
        ['bind', '/roundtable/source', false],
        ['volume', '/roundtable/workspace', true],
        ['volume', '/tmp', true],
      ].sort(),
    );
  });
});
