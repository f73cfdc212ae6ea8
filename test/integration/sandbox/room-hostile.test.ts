import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PinnedImage, Room } from '../../../src/engine/ports/container-runtime.ts';
import {
  containerTestsEnabled,
  removeTestProject,
  TEST_LIMITS,
  testImage,
  testProjectId,
  testRoomSpec,
  testRuntime,
} from '../../support/container.ts';
import { AGENT_ENV, makeSource, must, run, sh, until } from '../../support/room.ts';

const MIB = 1024 * 1024;
/** One CPU and few processes: a fork bomb shall try the room, not the rest of the machine. */
const LIMITS = { ...TEST_LIMITS, cpus: 1, pids: 96 };

describe.skipIf(!containerTestsEnabled())('an agent that does not behave', () => {
  const runtime = testRuntime();
  const project = testProjectId();
  let image: PinnedImage;
  let source = '';
  let room: Room;
  const signal = () => AbortSignal.timeout(60_000);

  beforeAll(async () => {
    image = await testImage();
    source = await makeSource();
  });
  beforeEach(async () => {
    room = must(await runtime.createRoom(testRoomSpec(project, image, source, { limits: LIMITS }), signal()));
  });
  afterEach(async () => {
    must(await room.remove());
  });
  afterAll(async () => {
    await removeTestProject(runtime, project);
    runtime.close();
    await rm(source, { recursive: true, force: true });
  });

  /** Starts a program and throws its output away. */
  async function start(script: string) {
    const spec = { argv: ['sh', '-c', script] as const, env: AGENT_ENV, cwd: '/tmp', stdin: null };
    const running = must(await room.exec({ ...spec, argv: [...spec.argv] }, signal()));
    running.stdout.resume();
    running.stderr.resume();
    return running;
  }

  /** How many processes the agent's user has besides the one that counts. */
  const agentProcesses = async () => {
    const { stdout } = await run(room, ['ps', '-o', 'user']);
    return stdout.split('\n').filter((user) => user.trim() === 'agent').length - 1;
  };

  it('is given the time to end by itself after SIGTERM', async () => {
    const running = await start(
      'trap "sleep 2; echo tidy > /tmp/tidied; exit 0" TERM; touch /tmp/ready; while :; do sleep 0.1; done',
    );
    await until('the agent is ready', async () => (await sh(room, 'test -e /tmp/ready')).exitCode === 0);
    must(await room.killAgent(10_000));
    expect(must(await running.done).exitCode).toBe(0);
    expect((await sh(room, 'cat /tmp/tidied')).stdout).toBe('tidy\n');
  });

  it('dies although it ignores SIGTERM', async () => {
    const running = await start('trap "" TERM HUP INT; touch /tmp/ready; while :; do sleep 1; done');
    await until('the agent is ready', async () => (await sh(room, 'test -e /tmp/ready')).exitCode === 0);
    const began = Date.now();
    must(await room.killAgent(2_500));
    expect(Date.now() - began).toBeGreaterThanOrEqual(2_500);
    expect(must(await running.done).exitCode).toBe(137);
    expect(await agentProcesses()).toBe(0);
  });

  it('dies although it moved to sessions of its own and lost its parents', async () => {
    const daemon = 'trap "" TERM HUP; touch /tmp/up; while :; do sleep 1; done';
    const running = await start(`(setsid sh -c '(setsid sh -c "${daemon.replaceAll('"', '\\"')}" &) ' &); exit 0`);
    expect(must(await running.done).exitCode).toBe(0);
    await until('the daemon is up', async () => (await sh(room, 'test -e /tmp/up')).exitCode === 0);
    expect(await agentProcesses()).toBeGreaterThan(0);
    must(await room.killAgent(100));
    expect(await agentProcesses()).toBe(0);
    expect(must(await room.status()).state).toBe('running');
  });

  it.each([0, 300])('dies although it forks without end (grace %i ms)', { timeout: 120_000 }, async (graceMs) => {
    await start('trap "" TERM; touch /tmp/ready; f() { f | f & }; while :; do f; done');
    await until('the bomb went off', async () => {
      const probe = await sh(room, 'test -e /tmp/ready').catch(() => ({ exitCode: 0 }));
      return probe.exitCode !== 1;
    });
    const began = Date.now();
    must(await room.killAgent(graceMs));
    expect(Date.now() - began).toBeLessThan(60_000);
    expect(await agentProcesses()).toBe(0);
    // The pid limit is what it was, and the room works.
    const script = 'cat /sys/fs/cgroup/pids/pids.max 2>/dev/null || cat /sys/fs/cgroup/pids.max';
    expect((await sh(room, script)).stdout).toBe(`${LIMITS.pids}\n`);
  });

  it('can be paused while it is starting, and stopped while it is paused', async () => {
    // Without care the engine never answers for this container again.
    await start('trap "" TERM; while :; do sleep 1; done');
    must(await room.pause());
    expect(must(await room.status()).state).toBe('paused');
    must(await room.killAgent(0));
    expect(must(await room.status()).state).toBe('running');
    expect(await agentProcesses()).toBe(0);
  });

  it('can not fill our memory with output: 100 MiB arrive, no faster than they are read', async () => {
    const running = must(
      await room.exec(
        { argv: ['sh', '-c', 'head -c 104857600 /dev/zero; echo end >&2'], env: AGENT_ENV, cwd: '/tmp', stdin: null },
        signal(),
      ),
    );
    running.stderr.resume();
    // Nobody reads yet: what piles up here is bounded by the buffers, whatever the program prints.
    await until('output is there', async () => running.stdout.readableLength > 0);
    const before = process.memoryUsage();
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(running.stdout.readableLength).toBeLessThanOrEqual(MIB);
    let bytes = 0;
    let peak = 0;
    for await (const chunk of running.stdout) {
      bytes += chunk.length;
      const now = process.memoryUsage();
      peak = Math.max(peak, now.external + now.heapUsed - before.external - before.heapUsed);
    }
    expect(bytes).toBe(100 * MIB);
    expect(must(await running.done).exitCode).toBe(0);
    expect(peak).toBeLessThan(64 * MIB);
  });

  it('can write no more than its volumes hold, and the room stays usable', async () => {
    const { stdout, stderr } = await sh(
      room,
      'for d in /roundtable/workspace /tmp /home/agent; do dd if=/dev/zero of=$d/big bs=1M count=2048; wc -c < $d/big; done',
    );
    expect(stderr.match(/no space left/gi)).toHaveLength(3);
    const sizes = stdout.trim().split('\n').map(Number);
    const { workspaceMiB, tempMiB, homeMiB } = LIMITS;
    expect(sizes).toEqual([workspaceMiB * MIB, tempMiB * MIB, homeMiB * MIB]);
    expect(must(await room.status())).toEqual({ state: 'running', oomKilled: false });
    must(await room.pause());
    let exported = 0;
    for await (const chunk of must(await room.exportWorkspace(signal()))) exported += chunk.length;
    expect(exported).toBeGreaterThan(workspaceMiB * MIB);
  });

  it('can take no more memory than its limit, and only it dies of that', async () => {
    const grow = 'const kept = []; for (;;) kept.push(Buffer.alloc(16 << 20, 1));';
    const running = must(
      await room.exec({ argv: ['node', '-e', grow], env: AGENT_ENV, cwd: '/tmp', stdin: null }, signal()),
    );
    running.stdout.resume();
    running.stderr.resume();
    expect(must(await running.done).exitCode).toBe(137);
    expect(must(await room.status()).state).toBe('running');
  });
});
