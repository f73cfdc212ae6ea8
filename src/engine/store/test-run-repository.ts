import { z } from 'zod';
import type { TestRunRecord } from '../domain/records.ts';
import type { TestRunRepository } from '../ports/store.ts';
import { boolean, integer, integerOrNull, json, text, textOrNull } from './columns.ts';
import type { Connection } from './connection.ts';
import { rowRepository } from './row-repository.ts';
import { Table } from './table.ts';

export function testRunRepository(connection: Connection): TestRunRepository {
  const table = new Table<TestRunRecord>(connection, {
    name: 'test_runs',
    key: ['id'],
    columns: {
      id: text(),
      proposalId: text(),
      revision: integer(),
      argv: json(z.array(z.string())),
      resultTree: text(),
      imageDigest: text(),
      status: text(),
      exitCode: integerOrNull(),
      detail: textOrNull(),
      logFile: textOrNull(),
      logTruncated: boolean(),
      startedAt: text(),
      endedAt: textOrNull(),
    },
  });
  return {
    ...rowRepository(table),
    ofRevision: (proposalId, revision) =>
      table.many('WHERE proposal_id = ? AND revision = ? ORDER BY seq', proposalId, revision),
  };
}
