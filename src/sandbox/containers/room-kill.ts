import { ROOM_PATH } from '../hardening.ts';
import type { EngineConnection } from './engine-connection.ts';
import { runToEnd } from './room-exec.ts';
import { failure, RuntimeFailure } from './runtime-failure.ts';

const KILL_DEADLINE_MS = 20_000;
const ATTEMPT_TIMEOUT_MS = 5_000;
const POLL_MS = 100;
const EXTRA_PIDS = 64;

/** Everything that uid 1000 may signal: all of its own processes in the room, in any group or session, but not PID 1. */
const TERMINATE = 'kill -s TERM -- -1 2>/dev/null; exit 0';
/** Exit 0: nobody is left. Only built-ins: nothing is forked, so a full process table can't stop it. */
const KILL_ALL = 'kill -s KILL -- -1 2>/dev/null; if kill -s 0 -- -1 2>/dev/null; then exit 3; fi; exit 0';
const ANYBODY_LEFT = 'if kill -s 0 -- -1 2>/dev/null; then exit 3; fi; exit 0';

/**
 * Ends everything of the agent: SIGTERM, up to `graceMs` for the programs to leave, then SIGKILL to all of uid 1000.
 * One `kill(-1)` reaches every process at once in the kernel, so a program that forks as fast as it can doesn't escape.
 * `pids` is the room's limit: when the table is so full that our own program can't start, it is raised for a moment.
 */
export async function killAgent(engine: EngineConnection, containerId: string, graceMs: number): Promise<void> {
  if (graceMs > 0) {
    const asked = await attempt(engine, containerId, TERMINATE);
    if (asked === 0) await waitUntilGone(engine, containerId, graceMs);
  }
  const deadline = Date.now() + KILL_DEADLINE_MS;
  let raised: { readonly limit: number } | null = null;
  try {
    for (let tries = 1; Date.now() < deadline; tries += 1) {
      const exit = await attempt(engine, containerId, KILL_ALL);
      if (exit === 0) return;
      if (exit !== 3 && raised === null) raised = await raisePidLimit(engine, containerId);
      await new Promise((resolve) => setTimeout(resolve, Math.min(20 * tries, POLL_MS)));
    }
  } finally {
    if (raised !== null) await setPidLimit(engine, containerId, raised.limit);
  }
  throw failure(
    'engine_failed',
    `processes of the agent are left in container ${containerId.slice(0, 12)} after ${KILL_DEADLINE_MS} ms of SIGKILL`,
    'pause the room, export it and remove it: that ends them',
  );
}

async function waitUntilGone(engine: EngineConnection, containerId: string, graceMs: number): Promise<void> {
  const deadline = Date.now() + graceMs;
  for (let pause = 25; Date.now() < deadline; pause = Math.min(pause * 2, 500)) {
    if ((await attempt(engine, containerId, ANYBODY_LEFT)) === 0) return;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pause, Math.max(0, deadline - Date.now()))));
  }
}

/** Exit code of one of our short programs, or null when it could not be started or was itself killed by the agent. */
async function attempt(engine: EngineConnection, containerId: string, script: string): Promise<number | null> {
  try {
    const { exitCode } = await runToEnd(
      engine,
      containerId,
      { argv: ['sh', '-c', script], env: { PATH: ROOM_PATH }, cwd: '/', stdin: null },
      AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
    );
    return exitCode;
  } catch (cause) {
    if (!(cause instanceof RuntimeFailure)) throw cause;
    if (cause.runtimeError.code === 'container_gone' || cause.runtimeError.code === 'engine_unavailable') throw cause;
    return null;
  }
}

async function raisePidLimit(
  engine: EngineConnection,
  containerId: string,
): Promise<{ readonly limit: number } | null> {
  try {
    const { HostConfig } = await engine.docker.getContainer(containerId).inspect();
    const limit = HostConfig.PidsLimit ?? 0;
    if (limit <= 0) return null;
    await engine.docker.getContainer(containerId).update({ PidsLimit: limit + EXTRA_PIDS });
    return { limit };
  } catch {
    return null; // the next attempts may still get in
  }
}

async function setPidLimit(engine: EngineConnection, containerId: string, limit: number): Promise<void> {
  try {
    await engine.docker.getContainer(containerId).update({ PidsLimit: limit });
  } catch {
    // a room whose limit stays 64 higher is still bounded, and about to be removed
  }
}
