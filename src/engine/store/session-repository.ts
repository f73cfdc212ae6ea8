import { z } from 'zod';
import type { SessionRecord } from '../domain/records.ts';
import type { SessionRepository } from '../ports/store.ts';
import { boolean, integer, integerOrNull, json, jsonOrNull, text, textOrNull } from './columns.ts';
import type { Connection } from './connection.ts';
import { rowRepository } from './row-repository.ts';
import { openStatuses } from './statuses.ts';
import { Table } from './table.ts';

export function sessionRepository(connection: Connection): SessionRepository {
  const usage = z.object({ inputTokens: z.number(), outputTokens: z.number(), usd: z.number().nullable() });
  const table = new Table<SessionRecord>(connection, {
    name: 'sessions',
    key: ['id'],
    lifecycle: 'session',
    columns: {
      id: text(),
      agentId: text(),
      role: text(),
      runId: text(),
      taskId: textOrNull(),
      adapter: text(),
      model: text(),
      mode: text(),
      status: text(),
      statusReason: textOrNull(),
      attempt: integer(),
      baseCommit: text(),
      imageDigest: text(),
      containerId: textOrNull(),
      engineInstance: text(),
      externalId: textOrNull(),
      withheld: json(z.array(z.string())),
      exitCode: integerOrNull(),
      stdoutBytes: integer(),
      stderrBytes: integer(),
      stdoutTruncated: boolean(),
      stderrTruncated: boolean(),
      usage: jsonOrNull(usage),
      createdAt: text(),
      startedAt: textOrNull(),
      endedAt: textOrNull(),
      lastSeenAt: textOrNull(),
      durations: json(z.record(z.string(), z.number())),
    },
  });
  const live = `WHERE status IN (${openStatuses('session')}) ORDER BY seq`;
  return {
    ...rowRepository(table),
    ofRun: (runId) => table.many('WHERE run_id = ? ORDER BY seq', runId),
    ofTask: (taskId) => table.many('WHERE task_id = ? ORDER BY seq', taskId),
    live: () => table.many(live),
  };
}
