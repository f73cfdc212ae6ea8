import { z } from 'zod';
import type { EventRecord, NewEvent } from '../domain/records.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventFilter, Repositories } from '../ports/store.ts';
import { canonicalJson } from './canonical-json.ts';
import { integer, json, text, textOrNull } from './columns.ts';
import type { Connection, SqlValue } from './connection.ts';
import { eventDigest, GENESIS_DIGEST } from './event-digest.ts';
import { Table } from './table.ts';

interface Head {
  readonly id: number;
  readonly digest: string;
}

/** The append-only log. Ids are 1, 2, 3 … in commit order, since the write lock is held from reading the head on. */
export class EventLog {
  readonly repository: Repositories['events'];
  readonly #connection: Connection;
  readonly #clock: Clock;
  /** Known only inside the transaction that read it: other processes append too. */
  #head: Head | null = null;
  #appended = false;

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
    const table = eventTable(connection);
    this.repository = {
      list: (filter) => listEvents(table, filter),
      lastId: () => this.#readHead().id,
      lastDigest: () => this.#readHead().digest,
    };
  }

  beginTransaction(): void {
    this.#head = null;
    this.#appended = false;
  }

  /** Id of the last event if this transaction appended any. */
  appendedUpTo(): number | null {
    return this.#appended && this.#head !== null ? this.#head.id : null;
  }

  append(event: NewEvent): EventRecord {
    this.#connection.assertWriting();
    const head = this.#head ?? this.#readHead();
    const data = event.data ?? {};
    const row = {
      id: head.id + 1,
      at: this.#clock.now(),
      type: wellFormed(event.type),
      principal: event.principal,
      entity: wellFormed(event.entity),
      entityId: wellFormed(event.entityId),
      runId: event.runId,
      data: canonicalJson(data),
    };
    const digest = eventDigest(head.digest, row);
    this.#connection
      .prepare(INSERT)
      .run(row.id, row.at, row.type, row.principal, row.entity, row.entityId, row.runId, row.data, digest);
    this.#head = { id: row.id, digest };
    this.#appended = true;
    return { ...row, data, digest };
  }

  #readHead(): Head {
    this.#connection.assertReading();
    const row = this.#connection.prepare(HEAD).get();
    return row === undefined ? { id: 0, digest: GENESIS_DIGEST } : { id: Number(row[0]), digest: String(row[1]) };
  }
}

const HEAD = 'SELECT id, digest FROM events ORDER BY id DESC LIMIT 1';
const INSERT = `INSERT INTO events (id, at, type, principal, entity, entity_id, run_id, data, digest)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Half a surrogate pair can't be stored as UTF-8; the row must hold the very text that was hashed. */
function wellFormed(value: string): string {
  return /\p{Surrogate}/u.test(value) ? value.replace(/\p{Surrogate}/gu, '\ufffd') : value;
}

function eventTable(connection: Connection): Table<EventRecord> {
  return new Table<EventRecord>(connection, {
    name: 'events',
    key: ['id'],
    columns: {
      id: integer(),
      at: text(),
      type: text(),
      principal: text(),
      entity: text(),
      entityId: text(),
      runId: textOrNull(),
      data: json(z.record(z.string(), z.unknown())),
      digest: text(),
    },
  });
}

function listEvents(table: Table<EventRecord>, filter: EventFilter): readonly EventRecord[] {
  if (!Number.isSafeInteger(filter.limit) || filter.limit < 1)
    throw new RangeError(`limit ${filter.limit} is not a count`);
  const conditions: [string, SqlValue | undefined][] = [
    ['id > ?', filter.afterId],
    ['id <= ?', filter.upToId],
    ['run_id = ?', filter.runId],
    ['type = ?', filter.type],
    ['entity = ?', filter.entity],
    ['entity_id = ?', filter.entityId],
  ];
  const given = conditions.filter((condition): condition is [string, SqlValue] => condition[1] !== undefined);
  const where = given.length === 0 ? '' : `WHERE ${given.map(([sql]) => sql).join(' AND ')} `;
  const order = filter.newest === true ? 'DESC' : 'ASC';
  const rows = table.many(`${where}ORDER BY id ${order} LIMIT ?`, ...given.map(([, value]) => value), filter.limit);
  return filter.newest === true ? rows.reverse() : rows;
}
