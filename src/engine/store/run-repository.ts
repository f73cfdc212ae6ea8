import { z } from 'zod';
import type { RunRecord } from '../domain/records.ts';
import type { RunRepository } from '../ports/store.ts';
import { integer, integerOrNull, json, text, textOrNull } from './columns.ts';
import type { Connection } from './connection.ts';
import { rowRepository } from './row-repository.ts';
import { openStatuses } from './statuses.ts';
import { Table } from './table.ts';

export function runRepository(connection: Connection): RunRepository {
  const table = new Table<RunRecord>(connection, {
    name: 'runs',
    key: ['id'],
    lifecycle: 'run',
    columns: {
      id: text(),
      goal: text(),
      status: text(),
      statusReason: textOrNull(),
      scope: json(z.array(z.string())),
      targetRef: text(),
      approveMode: text(),
      maxIterations: integerOrNull(),
      iterations: integer(),
      deadlineAt: textOrNull(),
      createdAt: text(),
      updatedAt: text(),
    },
  });
  const live = `WHERE status IN (${openStatuses('run', ['stopped'])}) ORDER BY seq DESC`;
  return { ...rowRepository(table), live: () => table.many(live) };
}
