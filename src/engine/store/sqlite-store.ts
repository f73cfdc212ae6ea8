import { ID_PREFIX } from '../domain/ids.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { Clock } from '../ports/clock.ts';
import type { Repositories, Store, StoreError, WriteScope } from '../ports/store.ts';
import { ChangeFeed } from './change-feed.ts';
import { type Connection, isBusy } from './connection.ts';
import { nextCount } from './counters.ts';
import { EventLog } from './event-log.ts';
import { createRepositories } from './repositories.ts';
import { environmentalError, isEnvironmental, storeFailed } from './store-errors.ts';
import { WriteQueue } from './write-queue.ts';

type Durability = 'full' | 'normal';

/** The store on one connection. Takes the connection over: closing the store closes it. */
export class SqliteStore implements Store {
  readonly #connection: Connection;
  readonly #readOnly: boolean;
  readonly #log: EventLog;
  readonly #repositories: Repositories;
  readonly #scope: WriteScope;
  readonly #feed: ChangeFeed;
  readonly #queue: WriteQueue;
  #synchronous: Durability | null = null;

  constructor(connection: Connection, clock: Clock, readOnly: boolean) {
    this.#connection = connection;
    this.#readOnly = readOnly;
    this.#log = new EventLog(connection, clock);
    this.#repositories = createRepositories(connection, this.#log);
    this.#scope = {
      ...this.#repositories,
      nextId: (entity) => `${ID_PREFIX[entity]}-${nextCount(connection, entity)}`,
      append: (event) => this.#log.append(event),
    };
    this.#feed = new ChangeFeed(connection);
    this.#queue = new WriteQueue(clock);
  }

  /** Inside another read or write it is part of that transaction. Throws when the store is closed. */
  read<T>(fn: (repositories: Repositories) => T): T {
    if (this.#connection.phase !== 'idle') return fn(this.#repositories);
    this.#beginSnapshot();
    this.#connection.phase = 'reading';
    try {
      const value = fn(this.#repositories);
      refusePromise(value);
      return value;
    } finally {
      this.#connection.phase = 'idle';
      if (this.#connection.database.inTransaction) this.#connection.prepare('COMMIT').run();
    }
  }

  write<T>(
    durability: Durability,
    fn: (scope: WriteScope) => T,
    options?: { readonly timeoutMs?: number },
  ): Promise<Result<T, StoreError>> {
    // Thrown at the caller, not into a promise that nobody may be looking at.
    if (this.#connection.phase !== 'idle') throw new Error('a write was started inside another transaction');
    if (this.#readOnly) return Promise.resolve(err(READ_ONLY));
    if (this.#queue.isEmpty) {
      try {
        const outcome = this.#attempt(durability, fn);
        if (outcome !== 'busy') return Promise.resolve(outcome);
      } catch (cause) {
        return Promise.reject(cause);
      }
    }
    return this.#queue.wait(() => this.#attempt(durability, fn), options?.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  }

  subscribe(listener: (range: { readonly fromId: number; readonly toId: number }) => void): { close(): void } {
    return this.#feed.subscribe(listener);
  }

  /** Waiting writes answer `store_failed`. Must not be called inside a transaction. */
  close(): void {
    if (this.#connection.phase !== 'idle') throw new Error('the store was closed inside a transaction');
    this.#queue.close();
    this.#feed.close();
    this.#connection.database.close();
  }

  /** Throws what `fn` throws, after everything is rolled back. */
  #attempt<T>(durability: Durability, fn: (scope: WriteScope) => T): Result<T, StoreError> | 'busy' {
    const connection = this.#connection;
    try {
      this.#setDurability(durability);
      connection.prepare('BEGIN IMMEDIATE').run();
    } catch (cause) {
      if (isBusy(cause)) return 'busy';
      return err(environmentalError('beginning a write', cause));
    }
    connection.phase = 'writing';
    this.#log.beginTransaction();
    let value: T;
    try {
      value = fn(this.#scope);
      refusePromise(value);
      connection.prepare('COMMIT').run();
    } catch (cause) {
      // A full disk makes SQLite roll back by itself.
      this.#log.rollBack();
      if (connection.database.inTransaction) connection.prepare('ROLLBACK').run();
      if (isEnvironmental(cause)) return err(environmentalError('writing', cause));
      throw cause;
    } finally {
      connection.phase = 'idle';
    }
    const lastId = this.#log.appendedUpTo();
    if (lastId !== null) this.#feed.publish(lastId);
    return ok(value);
  }

  /** SQLite ignores the pragma inside a transaction, so it is set before; it belongs to the connection, not the file. */
  #setDurability(durability: Durability): void {
    if (this.#synchronous === durability) return;
    this.#connection.database.pragma(durability === 'full' ? 'synchronous = FULL' : 'synchronous = NORMAL');
    this.#synchronous = durability;
  }

  /** A deferred transaction has no snapshot before its first read; taking it here makes the moment the caller's. */
  #beginSnapshot(): void {
    for (let tries = 1; ; tries += 1) {
      this.#connection.prepare('BEGIN').run();
      try {
        this.#connection.prepare('SELECT 1 FROM facts LIMIT 1').get();
        return;
      } catch (cause) {
        this.#connection.prepare('ROLLBACK').run();
        // Readers wait for writers never, only for the moment in which the log of a crashed process is recovered.
        if (!isBusy(cause) || tries >= MAX_SNAPSHOT_TRIES) throw cause;
      }
    }
  }
}

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_SNAPSHOT_TRIES = 40;
const READ_ONLY = storeFailed('the store was opened for reading only', 'open it for writing');

/** An async `fn` would go on after the commit. */
function refusePromise(value: unknown): void {
  if (typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function') {
    throw new Error('the function of a transaction must be synchronous, but it answered a promise');
  }
}
