import { setTimeout as delay } from 'node:timers/promises';
import { ROOM_PATH } from '../hardening.ts';
import { type ExecPlace, runToEnd } from './room-exec.ts';
import { failure, RuntimeFailure } from './runtime-failure.ts';

// Among hundreds of programs that fork on all CPUs, ours may wait seconds for its turn. It is not given up then: it
// still kills when its turn comes; another one is started beside it.
const DEADLINE_MS = 60_000;
const PATIENCE_MS = 5_000;
const POLL_MS = 100;
const EXTRA_PIDS = 64;

/**
 * All that uid 1000 may signal: everything of its own in the room, in any group or session, but not PID 1 and not the sender.
 * `-TERM -1` is what busybox, dash and bash all read as "signal, everybody"; not all of them take `--`, and what the
 * command answers differs, so nothing is concluded from it.
 */
const TERMINATE = 'kill -TERM -1 2>/dev/null; exit 0';
/**
 * Looks for a live process of our own user besides this shell. Only built-ins: nothing is forked, so a full process
 * table can't stop it. The state stands behind the last `)` of the stat line, since a program names itself.
 */
const ANYBODY_LEFT = `for p in /proc/[0-9]*; do
  [ -O "$p" ] || continue
  [ "$p" = "/proc/$$" ] && continue
  read -r line 2>/dev/null <"$p/stat" || continue
  case "\${line##*) }" in Z*|X*) continue;; esac
  exit 3
done
exit 0`;
const KILL_ALL = `kill -KILL -1 2>/dev/null
${ANYBODY_LEFT}`;
const SOMEBODY_IS_LEFT = 3;

/**
 * Ends everything of the agent: SIGTERM, up to `graceMs` for the programs to leave, then SIGKILL to all of uid 1000.
 * One `kill(-1)` reaches every process at once in the kernel, so a program that forks as fast as it can doesn't escape.
 * When the process table is so full that our own program can't start, its limit is raised for a moment.
 */
export async function killAgent(place: ExecPlace, graceMs: number): Promise<void> {
  const attempts = new Attempts(place);
  const deadline = Date.now() + graceMs + DEADLINE_MS;
  let raised: number | null = null;
  try {
    if (graceMs > 0) await askToLeave(attempts, graceMs);
    for (let tries = 1; Date.now() < deadline; tries += 1) {
      const exit = await attempts.run(KILL_ALL, PATIENCE_MS);
      if (exit === 0) return;
      const couldNotStart = exit !== null && exit !== SOMEBODY_IS_LEFT;
      if (couldNotStart && raised === null) raised = await raisePidLimit(place);
      await delay(Math.min(20 * tries, POLL_MS));
    }
  } finally {
    // A late one must not hit what is started in the room after we have returned.
    await attempts.settled();
    if (raised !== null) await setPidLimit(place, raised);
  }
  throw failure(
    'engine_failed',
    `processes of the agent are left in container ${place.containerId.slice(0, 12)} after ${DEADLINE_MS} ms of SIGKILL`,
    'pause the room, export it and remove it: that ends them',
  );
}

async function askToLeave(attempts: Attempts, graceMs: number): Promise<void> {
  const deadline = Date.now() + graceMs;
  const left = () => Math.max(0, deadline - Date.now());
  await attempts.run(TERMINATE, left());
  for (let pause = 25; left() > 0; pause = Math.min(pause * 2, 500)) {
    if ((await attempts.run(ANYBODY_LEFT, left())) === 0) return;
    await delay(Math.min(pause, left()));
  }
}

/** Short programs of ours in the room, none of which is lost sight of. */
class Attempts {
  readonly #place: ExecPlace;
  readonly #running = new Set<Promise<number | null>>();

  constructor(place: ExecPlace) {
    this.#place = place;
  }

  /** Exit code; null when there is none yet, or the program could not be started or was killed by the agent. */
  async run(script: string, patienceMs: number): Promise<number | null> {
    const attempt = this.#start(script);
    this.#running.add(attempt);
    const forget = () => this.#running.delete(attempt);
    attempt.then(forget, forget);
    const impatience = new AbortController();
    try {
      return await Promise.race([attempt, delay(patienceMs, null, { signal: impatience.signal }).catch(() => null)]);
    } finally {
      impatience.abort();
    }
  }

  async settled(): Promise<void> {
    await Promise.allSettled([...this.#running]);
  }

  async #start(script: string): Promise<number | null> {
    try {
      const spec = { argv: ['sh', '-c', script] as const, env: { PATH: ROOM_PATH }, cwd: '/', stdin: null };
      const { exitCode } = await runToEnd(this.#place, spec, AbortSignal.timeout(DEADLINE_MS));
      return exitCode;
    } catch (cause) {
      if (!(cause instanceof RuntimeFailure)) throw cause;
      const { code } = cause.runtimeError;
      if (code === 'container_gone' || code === 'engine_unavailable') throw cause;
      return null;
    }
  }
}

/** Answers the limit as it was, or null when it was not changed: the next attempts may get in all the same. */
async function raisePidLimit({ engine, containerId }: ExecPlace): Promise<number | null> {
  try {
    const { HostConfig } = await engine.docker.getContainer(containerId).inspect();
    const limit = HostConfig.PidsLimit ?? 0;
    if (limit <= 0) return null;
    await engine.docker.getContainer(containerId).update({ PidsLimit: limit + EXTRA_PIDS });
    return limit;
  } catch {
    return null;
  }
}

async function setPidLimit({ engine, containerId }: ExecPlace, limit: number): Promise<void> {
  try {
    await engine.docker.getContainer(containerId).update({ PidsLimit: limit });
  } catch {
    // a limit that stays 64 higher is still a limit, and the room is about to be removed
  }
}
