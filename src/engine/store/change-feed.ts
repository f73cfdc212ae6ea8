import type { Connection } from './connection.ts';
import { type Listener, Subscription } from './subscription.ts';

/**
 * Tells subscribers which event ids are new. Own commits are announced by `publish`; those of other processes are
 * noticed by polling `PRAGMA data_version`, which changes only when another connection has committed. The events table
 * is the truth: a missed or doubled hint changes nothing, since every subscription keeps its own position.
 */
export class ChangeFeed {
  readonly #connection: Connection;
  readonly #subscriptions = new Set<Subscription>();
  #timer: NodeJS.Timeout | null = null;
  #dataVersion = -1;
  #closed = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  subscribe(listener: Listener): { close(): void } {
    if (this.#closed) return { close: () => {} };
    // Version first: a commit between the two reads is then found by the next poll instead of lost.
    if (this.#subscriptions.size === 0) this.#dataVersion = this.#readDataVersion();
    const subscription = new Subscription(listener, this.#readLastId());
    this.#subscriptions.add(subscription);
    this.#timer ??= setInterval(() => this.#poll(), POLL_MS).unref();
    return {
      close: () => {
        subscription.close();
        this.#subscriptions.delete(subscription);
        if (this.#subscriptions.size === 0) this.#stopPolling();
      },
    };
  }

  /** Every id up to `lastId` is committed. */
  publish(lastId: number): void {
    for (const subscription of this.#subscriptions) subscription.offer(lastId);
  }

  close(): void {
    this.#closed = true;
    for (const subscription of this.#subscriptions) subscription.close();
    this.#subscriptions.clear();
    this.#stopPolling();
  }

  #poll(): void {
    try {
      const version = this.#readDataVersion();
      if (version === this.#dataVersion) return;
      const lastId = this.#readLastId();
      this.#dataVersion = version;
      this.publish(lastId);
    } catch {
      // The file is being recovered or can't be read just now; the next poll looks again, and reads report the error.
    }
  }

  #stopPolling(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #readDataVersion(): number {
    return Number(this.#connection.prepare('PRAGMA data_version').get()?.[0]);
  }

  #readLastId(): number {
    return Number(this.#connection.prepare('SELECT coalesce(max(id), 0) FROM events').get()?.[0]);
  }
}

const POLL_MS = 50;
