import { z } from 'zod';
import type { EventRecord } from '../domain/records.ts';
import type { EventFilter, Repositories } from '../ports/store.ts';
import { integer, json, text, textOrNull } from './columns.ts';
import type { Connection, SqlValue } from './connection.ts';
import { stretchesOf } from './event-blocks.ts';
import { Table } from './table.ts';

/** The log's query: a walk along the ids that skips the blocks that hold nothing looked for. */
export function eventList(connection: Connection): Repositories['events']['list'] {
  const table = eventTable(connection);
  return (filter) => {
    const { limit, newest = false } = filter;
    if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError(`limit ${limit} is not a count`);
    const stretches = stretchesOf(connection, filter);
    const found: EventRecord[] = [];
    for (const { afterId, upToId } of newest ? [...stretches].reverse() : stretches) {
      for (const event of stretch(table, { ...filter, afterId, upToId, limit: limit - found.length }))
        found.push(event);
      if (found.length === limit) break;
    }
    return newest ? found.reverse() : found;
  };
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
