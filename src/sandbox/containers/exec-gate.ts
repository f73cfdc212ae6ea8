import { failure } from './runtime-failure.ts';

const START_DEADLINE_MS = 20_000;
const POLL_MS = 10;
const GIVEN_UP_MS = 2_000;

/** `idle`: the engine has not begun; `starting`: the program is on its way; `started`: it runs, or has ended. */
export type ExecProgress = 'idle' | 'starting' | 'started';

interface Begun {
  readonly progress: () => Promise<ExecProgress>;
  /** When we gave up on the start; the engine may still begin with it for a moment. */
  givenUpAt: number | null;
}

/**
 * Keeps a pause away from an exec that is still starting. An engine that freezes a container in the middle of an exec's
 * start never answers for that container again (seen with Docker 20.10: inspect, unpause and remove all hang, since the
 * start waits for the frozen process and holds the lock).
 */
export class ExecGate {
  readonly #starting = new Set<Begun>();
  #pausing: Promise<unknown> | null = null;

  /** `begin` asks the engine to start; `progress` asks it how far that is. */
  async begin<T>(progress: () => Promise<ExecProgress>, begin: () => Promise<T>): Promise<T> {
    while (this.#pausing !== null) await this.#pausing.catch(() => {});
    const begun: Begun = { progress, givenUpAt: null };
    this.#starting.add(begun);
    try {
      return await begin();
    } catch (cause) {
      begun.givenUpAt = Date.now();
      throw cause;
    }
  }

  /** Runs `pause` when nothing is on its way; what begins meanwhile waits. */
  async pause(pause: () => Promise<void>): Promise<void> {
    while (this.#pausing !== null) await this.#pausing.catch(() => {});
    const pausing = this.#settled().then(pause);
    this.#pausing = pausing;
    try {
      await pausing;
    } finally {
      this.#pausing = null;
    }
  }

  async #settled(): Promise<void> {
    const deadline = Date.now() + START_DEADLINE_MS;
    for (const begun of this.#starting) {
      while (!(await isSettled(begun))) {
        if (Date.now() > deadline) {
          throw failure(
            'engine_failed',
            `a program of the room has not started within ${START_DEADLINE_MS} ms, and pausing now could block the engine`,
            'try again, or stop the session',
          );
        }
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      this.#starting.delete(begun);
    }
  }
}

async function isSettled({ progress, givenUpAt }: Begun): Promise<boolean> {
  const now = await progress();
  if (now === 'started') return true;
  return now === 'idle' && givenUpAt !== null && Date.now() - givenUpAt > GIVEN_UP_MS;
}
