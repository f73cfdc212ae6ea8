import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import type { ContainerRuntime, PinnedImage, Room } from '../../src/engine/ports/container-runtime.ts';
import { removeTestProject, testImage, testProjectId, testRoomSpec, testRuntime } from '../support/container.ts';
import { AGENT_ENV, makeSource, must } from '../support/room.ts';

const SOURCE_FILES = 200;
const EXTRA_FILES = 1000;
const PROMPT = { '/home/agent/.roundtable/prompt.md': Buffer.from('do it\n') };

export interface SessionOverhead {
  readonly sourceFiles: number;
  readonly rounds: number;
  /** Medians. From the request for a room to the first byte of the agent's output. */
  readonly dispatchMs: number;
  /** `docker run --rm --network none IMAGE echo x`, from start to the first byte. */
  readonly bareRunMs: number;
  /** dispatchMs / bareRunMs; target ≤ 2.0. */
  readonly ratio: number;
  readonly steps: {
    readonly createRoomMs: number;
    /** These two run side by side. */
    readonly seedWorkspaceMs: number;
    readonly seedFilesMs: number;
    readonly execFirstByteMs: number;
    readonly pauseMs: number;
    readonly exportMs: number;
    readonly removeMs: number;
  };
  /** What one more file in the source costs at the start, from a source with 1,000 more. */
  readonly perFurtherFileMs: number;
}

type Steps = SessionOverhead['steps'];

/** Measures what the sandbox adds to a bare container, on the real engine, with a small agent. Rounds alternate, medians count. */
export async function measureSessionOverhead(rounds = 5): Promise<SessionOverhead> {
  const runtime = testRuntime();
  const project = testProjectId();
  const small = await makeSource(sourceOf(SOURCE_FILES));
  const large = await makeSource(sourceOf(SOURCE_FILES + EXTRA_FILES));
  try {
    const image = await testImage();
    await session(runtime, project, image, small); // warms the engine up
    await bareRun(image);
    const sessions: Steps[] = [];
    const bare: number[] = [];
    const largeSeeds: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      bare.push(await bareRun(image));
      sessions.push(await session(runtime, project, image, small));
      largeSeeds.push((await session(runtime, project, image, large)).seedWorkspaceMs);
    }
    const steps = medianSteps(sessions);
    const dispatchMs = median(sessions.map(dispatchOf));
    const bareRunMs = median(bare);
    return {
      sourceFiles: SOURCE_FILES,
      rounds,
      dispatchMs: round1(dispatchMs),
      bareRunMs: round1(bareRunMs),
      ratio: Math.round((dispatchMs / bareRunMs) * 100) / 100,
      steps,
      perFurtherFileMs: Math.round(((median(largeSeeds) - steps.seedWorkspaceMs) / EXTRA_FILES) * 1000) / 1000,
    };
  } finally {
    await removeTestProject(runtime, project);
    runtime.close();
    await Promise.all([small, large].map((dir) => rm(dir, { recursive: true, force: true })));
  }
}

async function session(runtime: ContainerRuntime, project: string, image: PinnedImage, source: string): Promise<Steps> {
  const signal = AbortSignal.timeout(120_000);
  const lap = stopwatch();
  const room = must(await runtime.createRoom(testRoomSpec(project, image, source), signal));
  const createRoomMs = lap();
  // Different volumes: side by side, as the supervisor does it.
  const [seedWorkspaceMs, seedFilesMs] = await Promise.all([
    timed(async () => must(await room.seedWorkspace(signal))),
    timed(async () => must(await room.seedFiles(PROMPT, signal))),
  ]);
  lap();
  await firstByte(room, signal);
  const execFirstByteMs = lap();
  must(await room.pause());
  const pauseMs = lap();
  for await (const _ of must(await room.exportWorkspace(signal)));
  const exportMs = lap();
  must(await room.remove());
  const removeMs = lap();
  return { createRoomMs, seedWorkspaceMs, seedFilesMs, execFirstByteMs, pauseMs, exportMs, removeMs };
}

async function firstByte(room: Room, signal: AbortSignal): Promise<void> {
  const spec = { argv: ['echo', 'x'] as const, env: AGENT_ENV, cwd: '/roundtable/workspace', stdin: null };
  const running = must(await room.exec(spec, signal));
  running.stderr.resume();
  await new Promise((resolve) => running.stdout.once('data', resolve));
}

/** The client prints the first byte before it removes the container, but ends only afterwards: so the byte is what is timed. */
async function bareRun(image: PinnedImage): Promise<number> {
  const lap = stopwatch();
  const running = promisify(execFile)('docker', ['run', '--rm', '--network', 'none', image.imageId, 'echo', 'x']);
  const first = new Promise<number>((resolve) => running.child.stdout?.once('data', () => resolve(lap())));
  const [, ms] = await Promise.all([running, first]);
  return ms;
}

function dispatchOf(steps: Steps): number {
  return steps.createRoomMs + Math.max(steps.seedWorkspaceMs, steps.seedFilesMs) + steps.execFirstByteMs;
}

function sourceOf(count: number): Record<string, string> {
  const name = (n: number) => `src/part-${n % 10}/file-${n}.ts`;
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [name(n), `export const n = ${n};\n`.repeat(100)]));
}

function medianSteps(all: readonly Steps[]): Steps {
  const of = (name: keyof Steps) => round1(median(all.map((steps) => steps[name])));
  return {
    createRoomMs: of('createRoomMs'),
    seedWorkspaceMs: of('seedWorkspaceMs'),
    seedFilesMs: of('seedFilesMs'),
    execFirstByteMs: of('execFirstByteMs'),
    pauseMs: of('pauseMs'),
    exportMs: of('exportMs'),
    removeMs: of('removeMs'),
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const lap = stopwatch();
  await work();
  return lap();
}

function stopwatch(): () => number {
  let last = performance.now();
  return () => {
    const now = performance.now();
    const passed = now - last;
    last = now;
    return passed;
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function round1(ms: number): number {
  return Math.round(ms * 10) / 10;
}
