import type { EventRecord, NewEvent } from '../domain/records.ts';
import type { Clock } from '../ports/clock.ts';
import type { Repositories } from '../ports/store.ts';
import { canonicalJson } from './canonical-json.ts';
import type { Connection } from './connection.ts';
import { closeBlock } from './event-blocks.ts';
import { type EventRow, eventDigest, GENESIS_DIGEST } from './event-digest.ts';
import { eventList } from './event-list.ts';

interface Head {
  readonly id: number;
  readonly digest: string;
}

/** The append-only log. Ids are 1, 2, 3 … in commit order, since every append happens under the write lock. */
export class EventLog {
  readonly repository: Repositories['events'];
  readonly #connection: Connection;
  readonly #clock: Clock;
  /** Perhaps outdated by another process; the database notices, since it takes no id but the next one. */
  #head: Head | null = null;
  #appended = false;

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
    const list = eventList(connection);
    this.repository = {
      list,
      lastId: () => this.#readHead().id,
      lastDigest: () => this.#readHead().digest,
    };
  }

  beginTransaction(): void {
    this.#appended = false;
  }

  /** What was appended is gone; the head must be read again. */
  rollBack(): void {
    this.#head = null;
  }

  /** Id of the last event if this transaction appended any. */
  appendedUpTo(): number | null {
    return this.#appended && this.#head !== null ? this.#head.id : null;
  }

  append(event: NewEvent): EventRecord {
    this.#connection.assertWriting();
    const data = event.data ?? {};
    const fields = {
      at: this.#clock.now(),
      type: wellFormed(event.type),
      principal: event.principal,
      entity: wellFormed(event.entity),
      entityId: wellFormed(event.entityId),
      runId: event.runId,
      data: canonicalJson(data),
    };
    // Reading the head first would cost as much as the trigger that checks the number anyway.
    const head = (this.#head !== null && this.#insertAfter(this.#head, fields)) || this.#insertAfterLast(fields);
    closeBlock(this.#connection, head.id);
    this.#head = head;
    this.#appended = true;
    return { ...fields, id: head.id, data, digest: head.digest };
  }

  #insertAfterLast(fields: EventRow): Head {
    const head = this.#insertAfter(this.#readHead(), fields);
    if (head === null) throw new Error('the event log refused the number after its last one');
    return head;
  }

  /** The new head, or null when `previous` is not the last event any more; then nothing was written. */
  #insertAfter(previous: Head, fields: EventRow): Head | null {
    const id = previous.id + 1;
    const digest = eventDigest(previous.digest, id, fields);
    const { at, type, principal, entity, entityId, runId, data } = fields;
    try {
      this.#connection.prepare(INSERT).run(id, at, type, principal, entity, entityId, runId, data, digest);
      return { id, digest };
    } catch (cause) {
      if (cause instanceof Error && cause.message === NUMBERED_WITHOUT_GAPS) return null;
      throw cause;
    }
  }

  #readHead(): Head {
    this.#connection.assertReading();
    const row = this.#connection.prepare(HEAD).get();
    return row === undefined ? { id: 0, digest: GENESIS_DIGEST } : { id: Number(row[0]), digest: String(row[1]) };
  }
}

/** Message of the trigger; the statement is undone and the transaction goes on. */
const NUMBERED_WITHOUT_GAPS = 'events are numbered without gaps';
const HEAD = 'SELECT id, digest FROM events ORDER BY id DESC LIMIT 1';
const INSERT = `INSERT INTO events (id, at, type, principal, entity, entity_id, run_id, data, digest)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Half a surrogate pair can't be stored as UTF-8; the row must hold the very text that was hashed. */
function wellFormed(value: string): string {
  return /\p{Surrogate}/u.test(value) ? value.replace(/\p{Surrogate}/gu, '\ufffd') : value;
}
