import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { open, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { DEFAULT_ROOM_LIMITS } from '../../src/engine/domain/room-limits.ts';
import type {
  ContainerRuntime,
  PinnedImage,
  RoomLabels,
  RoomLimits,
  RoomSpec,
} from '../../src/engine/ports/container-runtime.ts';
import { createContainerRuntime } from '../../src/sandbox/containers/create-container-runtime.ts';
import { connectEngine, type EngineOptions } from '../../src/sandbox/containers/engine-connection.ts';
import { buildLocalImage } from '../../src/sandbox/images/build-local-image.ts';

/** The engine that the machine offers, as a user without configuration would get it. */
export const TEST_ENGINE: EngineOptions = { engine: 'auto', socket: null, ociRuntime: null, env: process.env };

let enabled: boolean | null = null;

/**
 * False without a usable engine, with a notice that names the restriction; throws instead where container tests are
 * required. Synchronous, for `describe.skipIf(!containerTestsEnabled())`.
 */
export function containerTestsEnabled(): boolean {
  if (enabled !== null) return enabled;
  try {
    execFileSync('docker', ['version', '--format', '{{.Server.Version}}'], { stdio: 'pipe', timeout: 20_000 });
    enabled = true;
  } catch (cause) {
    if (process.env.ROUNDTABLE_REQUIRE_CONTAINER_TESTS === '1') {
      throw new Error('container tests are required, but no container engine answers', { cause });
    }
    process.stderr.write('NOTICE: no container engine answers; tests that need real containers are SKIPPED\n');
    enabled = false;
  }
  return enabled;
}

export function testRuntime(): ContainerRuntime {
  return createContainerRuntime(TEST_ENGINE);
}

let image: Promise<PinnedImage> | null = null;

/**
 * An image with busybox, node, npm and git from this machine. Built once and then found again by its content label, also
 * by other test processes; it stays on the engine as a cache (label `dev.roundtable.image=test`).
 */
export function testImage(): Promise<PinnedImage> {
  image ??= makeTestImage();
  return image;
}

async function makeTestImage(): Promise<PinnedImage> {
  const unlock = await lockBuild();
  const engine = await connectEngine(TEST_ENGINE);
  try {
    const pieces = { node: true, npm: true, git: true };
    const built = await buildLocalImage({ engine, pieces, recipe: 'test', reuse: true });
    if (!built.ok) throw new Error(`${built.error.message}; ${built.error.remedy}`);
    const { imageId, sizeBytes } = built.value;
    return { reference: imageId, imageId, sizeBytes };
  } finally {
    engine.close();
    await unlock();
  }
}

/** One build at a time on this machine, so that parallel test processes don't each import 125 MB. */
async function lockBuild(): Promise<() => Promise<void>> {
  const file = path.join(os.tmpdir(), 'roundtable-test-image.lock');
  const deadline = Date.now() + 120_000;
  for (;;) {
    try {
      const handle = await open(file, 'wx');
      await handle.writeFile(String(process.pid));
      await handle.close();
      return () => rm(file, { force: true });
    } catch (cause) {
      if (Date.now() > deadline) throw new Error(`another process holds ${file}; remove it if it is stale`, { cause });
      const holder = Number(await readFile(file, 'utf8').catch(() => ''));
      if (holder > 0 && !isAlive(holder)) await rm(file, { force: true });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Project id that no other test process uses: cleaning up by it touches nobody else's rooms. */
export function testProjectId(): string {
  return `test-${randomUUID()}`;
}

export function testLabels(projectId: string, overrides: Partial<RoomLabels> = {}): RoomLabels {
  return {
    projectId,
    engineInstance: `test-${process.pid}`,
    runId: 'R-1',
    ownerId: 'S-1',
    kind: 'session',
    createdAt: new Date().toISOString(),
    ...overrides,
  };
}

/** Small enough to run several at once. */
export const TEST_LIMITS: RoomLimits = {
  ...DEFAULT_ROOM_LIMITS,
  memoryMiB: 512,
  workspaceMiB: 64,
  tempMiB: 32,
  homeMiB: 16,
};

export function testRoomSpec(
  projectId: string,
  pinned: PinnedImage,
  sourceDir: string,
  overrides: Partial<RoomSpec> = {},
): RoomSpec {
  return {
    labels: testLabels(projectId),
    image: pinned,
    limits: TEST_LIMITS,
    sourceDir,
    dependencies: null,
    bridgeDir: null,
    socketDir: null,
    seccompProfile: null,
    allowUnboundedVolumes: false,
    ...overrides,
  };
}

/** Removes every room and dependency volume of a test's project; throws when something can't be removed. */
export async function removeTestProject(runtime: ContainerRuntime, projectId: string): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  const owned = await runtime.listOwned(projectId, signal);
  if (!owned.ok) throw new Error(owned.error.message);
  for (const room of owned.value) {
    const removed = await runtime.adopt(room).remove();
    if (!removed.ok) throw new Error(removed.error.message);
  }
  const volumes = await runtime.listDependencyVolumes(projectId, signal);
  if (!volumes.ok) throw new Error(volumes.error.message);
  for (const name of volumes.value) {
    const removed = await runtime.removeVolume(name);
    if (!removed.ok) throw new Error(removed.error.message);
  }
}
