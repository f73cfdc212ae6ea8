import { z } from 'zod';
import type { EventRecord } from '../domain/records.ts';
import type { EventFilter, Repositories } from '../ports/store.ts';
import { integer, json, text, textOrNull } from './columns.ts';
import type { Connection, SqlValue } from './connection.ts';
import { Table } from './table.ts';

/** The log's query: a walk along the ids, which `event_blocks` lets skip the blocks that hold nothing looked for. */
export function eventList(connection: Connection): Repositories['events']['list'] {
  const table = eventTable(connection);
  return (filter) => {
    const { limit, newest = false } = filter;
    if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError(`limit ${limit} is not a count`);
    const found: EventRecord[] = [];
    for (const { afterId, upToId } of stretches(connection, filter)) {
      found.push(...stretch(table, { ...filter, afterId, upToId, limit: limit - found.length }));
      if (found.length === limit) break;
    }
    return newest ? found.reverse() : found;
  };
}

interface Stretch {
  readonly afterId: number;
  readonly upToId: number;
}

/** Of the schema: the trigger that fills `event_blocks` counts in the same size. */
const BLOCK = 256;

/** Where to look, in the order in which the answer is filled: from the newest down or from the oldest up. */
function stretches(connection: Connection, filter: EventFilter): readonly Stretch[] {
  const afterId = filter.afterId ?? 0;
  const upToId = filter.upToId ?? Number.MAX_SAFE_INTEGER;
  const indexed = mostSelective(filter);
  if (indexed === null) return [{ afterId, upToId }];
  connection.assertReading();
  const lastId = Number(connection.prepare('SELECT coalesce(max(id), 0) FROM events').get()?.[0]);
  // The last block is not indexed before it is full.
  const blocks = connection
    .prepare(BLOCKS)
    .all(...indexed)
    .map((row) => Number(row[0]));
  blocks.push(Math.floor(lastId / BLOCK));
  if (filter.newest === true) blocks.reverse();
  return blocks
    .map((block) => ({
      afterId: Math.max(afterId, block * BLOCK),
      upToId: Math.min(upToId, (block + 1) * BLOCK),
    }))
    .filter((range) => range.afterId < range.upToId);
}

const BLOCKS = 'SELECT block FROM event_blocks WHERE field = ? AND value = ? ORDER BY block';

function mostSelective(filter: EventFilter): [field: string, value: string] | null {
  if (filter.entityId !== undefined) return ['entity_id', filter.entityId];
  if (filter.type !== undefined) return ['type', filter.type];
  if (filter.entity !== undefined) return ['entity', filter.entity];
  return filter.runId === undefined ? null : ['run', filter.runId];
}

function stretch(table: Table<EventRecord>, filter: EventFilter): readonly EventRecord[] {
  const conditions: [string, SqlValue | undefined][] = [
    ['id > ?', filter.afterId],
    ['id <= ?', filter.upToId],
    ['run_id = ?', filter.runId],
    ['type = ?', filter.type],
    ['entity = ?', filter.entity],
    ['entity_id = ?', filter.entityId],
  ];
  const given = conditions.filter((condition): condition is [string, SqlValue] => condition[1] !== undefined);
  const where = given.map(([sql]) => sql).join(' AND ');
  const order = filter.newest === true ? 'DESC' : 'ASC';
  return table.many(`WHERE ${where} ORDER BY id ${order} LIMIT ?`, ...given.map(([, value]) => value), filter.limit);
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
