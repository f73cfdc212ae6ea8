import { err, type Result } from '../domain/result.ts';
import type { Clock } from '../ports/clock.ts';
import type { StoreError } from '../ports/store.ts';
import { busyError, storeFailed } from './store-errors.ts';

interface Waiter {
  /** Answers false while another process holds the lock. */
  readonly attempt: () => boolean;
  readonly giveUp: (error: StoreError) => void;
  readonly deadlineMs: number;
}

/**
 * Writes that found the write lock taken by another process, in the order in which they were asked for. Tries are made
 * from a timer, so that the event loop goes on.
 */
export class WriteQueue {
  readonly #clock: Clock;
  #waiters: Waiter[] = [];
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True when nobody waits: then the caller may try by itself first. */
  get isEmpty(): boolean {
    return this.#waiters.length === 0 && !this.#closed;
  }

  wait<T>(attempt: () => Result<T, StoreError> | 'busy', timeoutMs: number): Promise<Result<T, StoreError>> {
    if (this.#closed) return Promise.resolve(err(CLOSED));
    return new Promise((resolve, reject) => {
      this.#waiters.push({
        attempt: () => {
          try {
            const outcome = attempt();
            if (outcome === 'busy') return false;
            resolve(outcome);
          } catch (cause) {
            reject(cause);
          }
          return true;
        },
        giveUp: (error) => resolve(err(error)),
        deadlineMs: this.#clock.monotonicMs() + timeoutMs,
      });
      this.#schedule();
    });
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.giveUp(CLOSED);
  }

  #schedule(): void {
    if (this.#timer !== null || this.#waiters.length === 0) return;
    // Jitter keeps two processes from trying in step for ever. The timer keeps the process alive: a write is owed.
    this.#timer = setTimeout(() => this.#retry(), RETRY_MS / 2 + Math.random() * RETRY_MS);
  }

  #retry(): void {
    this.#timer = null;
    const sliceEndsMs = this.#clock.monotonicMs() + MAX_SLICE_MS;
    while (this.#waiters[0]?.attempt() === true) {
      this.#waiters.shift();
      if (this.#clock.monotonicMs() > sliceEndsMs) break;
    }
    const nowMs = this.#clock.monotonicMs();
    const late = this.#waiters.filter((waiter) => waiter.deadlineMs <= nowMs);
    this.#waiters = this.#waiters.filter((waiter) => waiter.deadlineMs > nowMs);
    for (const waiter of late) waiter.giveUp(busyError('writing'));
    this.#schedule();
  }
}

const RETRY_MS = 16;
/** A long queue that runs at last must not freeze the screen either. */
const MAX_SLICE_MS = 20;
const CLOSED = storeFailed('the store is closed', 'open it again');
