import type { ApprovalRecord } from '../domain/records.ts';
import type { ApprovalRepository } from '../ports/store.ts';
import { integer, integerOrNull, text, textOrNull } from './columns.ts';
import type { Connection } from './connection.ts';
import { Table } from './table.ts';

export function approvalRepository(connection: Connection): ApprovalRepository {
  const table = new Table<ApprovalRecord>(connection, {
    name: 'approvals',
    key: ['id'],
    columns: {
      id: text(),
      proposalId: text(),
      revision: integer(),
      principal: text(),
      origin: text(),
      carriedFrom: integerOrNull(),
      note: textOrNull(),
      at: text(),
    },
  });
  return {
    insert: (record) => table.insert(record),
    ofRevision: (proposalId, revision) =>
      table.many('WHERE proposal_id = ? AND revision = ? ORDER BY seq', proposalId, revision),
    all: () => table.many('ORDER BY seq'),
  };
}
