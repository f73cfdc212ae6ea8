import type { EventFilter } from '../ports/store.ts';
import type { Connection, SqlValue } from './connection.ts';

/**
 * A coarse index of the log: block n holds the ids 256n+1 to 256n+256, and `event_blocks` says which full blocks hold a
 * value. It is written once per block, in the transaction that fills it, so it is never behind by more than one block.
 */
const BLOCK = 256;

export interface Stretch {
  readonly afterId: number;
  readonly upToId: number;
}

/** To be called after every append, in the same transaction. */
export function closeBlock(connection: Connection, lastId: number): void {
  if (lastId % BLOCK !== 0) return;
  const block = lastId / BLOCK - 1;
  const values: Record<string, Set<SqlValue>> = { type: new Set(), run: new Set(), entity_id: new Set() };
  // Sets are several times faster here than SELECT DISTINCT, and this pause falls on one unlucky writer.
  for (const [type, runId, entityId] of connection.prepare(VALUES).all(lastId - BLOCK)) {
    values.type?.add(type ?? null);
    values.run?.add(runId ?? null);
    values.entity_id?.add(entityId ?? null);
  }
  for (const [field, distinct] of Object.entries(values)) {
    for (const value of distinct) if (value !== null) connection.prepare(INSERT).run(field, value, block);
  }
}

const VALUES = 'SELECT type, run_id, entity_id FROM events WHERE id > ?';
const INSERT = 'INSERT INTO event_blocks (field, value, block) VALUES (?, ?, ?)';

/** The stretches of the log in which events of the filter may stand, oldest first; one for all when nothing narrows it. */
export function stretchesOf(connection: Connection, filter: EventFilter): readonly Stretch[] {
  const all = { afterId: filter.afterId ?? 0, upToId: filter.upToId ?? Number.MAX_SAFE_INTEGER };
  const key = mostSelective(filter);
  if (key === null) return [all];
  connection.assertReading();
  const lastId = Number(connection.prepare('SELECT coalesce(max(id), 0) FROM events').get()?.[0]);
  const full = connection.prepare(BLOCKS).all(...key);
  // The last block isn't listed before it is full.
  return [...full.map((row) => Number(row[0])), Math.floor(lastId / BLOCK)]
    .map((block) => ({
      afterId: Math.max(all.afterId, block * BLOCK),
      upToId: Math.min(all.upToId, (block + 1) * BLOCK),
    }))
    .filter((stretch) => stretch.afterId < stretch.upToId);
}

const BLOCKS = 'SELECT block FROM event_blocks WHERE field = ? AND value = ? ORDER BY block';

function mostSelective(filter: EventFilter): [field: string, value: string] | null {
  if (filter.entityId !== undefined) return ['entity_id', filter.entityId];
  if (filter.type !== undefined) return ['type', filter.type];
  return filter.runId === undefined ? null : ['run', filter.runId];
}
