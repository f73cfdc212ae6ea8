import { ok, type Result } from '../domain/result.ts';
import type { StoreError } from '../ports/store.ts';
import type { Connection, SqlValue } from './connection.ts';
import { eventDigest, GENESIS_DIGEST } from './event-digest.ts';
import { openConnection } from './open-store.ts';

export interface EventVerdict {
  /** Events that stand before the first bad one, or all of them. */
  readonly verified: number;
  /** The first event whose number or digest doesn't follow from what stands before it, or null. */
  readonly firstBadId: number | null;
  /** Digest of the last verified event; compare it with one kept elsewhere to notice that the end was cut off. */
  readonly lastDigest: string;
}

/** Recomputes the whole chain of a database that others may be writing to. Synchronous: about 5 µs per event. */
export function verifyEvents(file: string): Result<EventVerdict, StoreError> {
  const connection = openConnection(file, true);
  if (!connection.ok) return connection;
  try {
    return ok(verifyChain(connection.value));
  } finally {
    connection.value.database.close();
  }
}

function verifyChain(connection: Connection): EventVerdict {
  let verified = 0;
  let lastDigest = GENESIS_DIGEST;
  for (const row of connection.prepare(ROWS).iterate()) {
    const id = Number(row[0]);
    if (id !== verified + 1 || digestOf(lastDigest, id, row) !== row[8])
      return { verified, firstBadId: id, lastDigest };
    verified = id;
    lastDigest = String(row[8]);
  }
  return { verified, firstBadId: null, lastDigest };
}

const ROWS = 'SELECT id, at, type, principal, entity, entity_id, run_id, data, digest FROM events ORDER BY id';

function digestOf(previous: string, id: number, row: readonly SqlValue[]): string {
  const [, at, type, principal, entity, entityId, runId, data] = row;
  return eventDigest(previous, id, {
    at: String(at),
    type: String(type),
    principal: String(principal),
    entity: String(entity),
    entityId: String(entityId),
    runId: runId === null ? null : String(runId),
    data: String(data),
  });
}
