import { failure } from './runtime-failure.ts';

const START_DEADLINE_MS = 20_000;
const POLL_MS = 10;

/** An exec that was begun: answers whether its program runs or has ended, as opposed to being on its way. */
export type HasStarted = () => Promise<boolean>;

/**
 * Keeps a pause away from an exec that is still starting. An engine that freezes a container in the middle of an exec's
 * start never answers for that container again (seen with Docker 20.10: inspect, unpause and remove all hang, since the
 * start waits for the frozen process and holds the lock).
 */
export class ExecGate {
  readonly #starting = new Set<HasStarted>();
  #pausing: Promise<unknown> | null = null;

  /** `begin` asks the engine to start; its result knows how to find out whether that is done. */
  async begin<T extends { readonly hasStarted: HasStarted }>(begin: () => Promise<T>): Promise<T> {
    while (this.#pausing !== null) await this.#pausing.catch(() => {});
    const pending: { ask: HasStarted } = { ask: async () => false };
    const ask = () => pending.ask();
    this.#starting.add(ask);
    try {
      const begun = await begin();
      pending.ask = begun.hasStarted;
      return begun;
    } catch (cause) {
      this.#starting.delete(ask);
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
    for (const hasStarted of this.#starting) {
      while (!(await hasStarted())) {
        if (Date.now() > deadline) {
          throw failure(
            'engine_failed',
            `a program of the room has not started within ${START_DEADLINE_MS} ms, and pausing now could block the engine`,
            'try again, or stop the session',
          );
        }
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      this.#starting.delete(hasStarted);
    }
  }
}
