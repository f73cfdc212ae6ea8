import { z } from 'zod';
import type { TaskRecord } from '../domain/records.ts';
import type { TaskRepository } from '../ports/store.ts';
import { integer, json, text, textOrNull } from './columns.ts';
import type { Connection } from './connection.ts';
import { rowRepository } from './row-repository.ts';
import { Table } from './table.ts';

export function taskRepository(connection: Connection): TaskRepository {
  const strings = z.array(z.string());
  const table = new Table<TaskRecord>(connection, {
    name: 'tasks',
    key: ['id'],
    lifecycle: 'task',
    columns: {
      id: text(),
      runId: text(),
      title: text(),
      body: text(),
      status: text(),
      statusReason: textOrNull(),
      readablePaths: json(strings),
      writablePaths: json(strings),
      risk: text(),
      priority: integer(),
      role: text(),
      agentId: textOrNull(),
      dependsOn: json(strings),
      expectedTests: json(z.array(strings)),
      attempts: integer(),
      notBefore: textOrNull(),
      feedback: textOrNull(),
      createdBy: text(),
      createdAt: text(),
      updatedAt: text(),
    },
  });
  return { ...rowRepository(table), ofRun: (runId) => table.many('WHERE run_id = ? ORDER BY seq', runId) };
}
