import { z } from 'zod';
import type { RequestRecord } from '../domain/records.ts';
import type { RequestRepository } from '../ports/store.ts';
import { json, jsonOrNull, text, textOrNull } from './columns.ts';
import type { Connection } from './connection.ts';
import { rowRepository } from './row-repository.ts';
import { Table } from './table.ts';

export function requestRepository(connection: Connection): RequestRepository {
  const object = z.record(z.string(), z.unknown());
  const table = new Table<RequestRecord>(connection, {
    name: 'requests',
    key: ['id'],
    columns: {
      id: text(),
      kind: text(),
      payload: json(object),
      principal: text(),
      status: text(),
      result: jsonOrNull(object),
      createdAt: text(),
      endedAt: textOrNull(),
    },
  });
  return { ...rowRepository(table), pending: () => table.many("WHERE status = 'pending' ORDER BY seq") };
}
