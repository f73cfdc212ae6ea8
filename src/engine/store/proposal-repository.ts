import type { ProposalRecord } from '../domain/records.ts';
import type { ProposalRepository } from '../ports/store.ts';
import { integer, text, textOrNull } from './columns.ts';
import type { Connection } from './connection.ts';
import { revisionTable } from './revision-table.ts';
import { rowRepository } from './row-repository.ts';
import { Table } from './table.ts';

export function proposalRepository(connection: Connection): ProposalRepository {
  const table = new Table<ProposalRecord>(connection, {
    name: 'proposals',
    key: ['id'],
    lifecycle: 'proposal',
    columns: {
      id: text(),
      runId: text(),
      taskId: text(),
      agentId: text(),
      sessionId: text(),
      title: text(),
      status: text(),
      statusReason: textOrNull(),
      currentRevision: integer(),
      createdAt: text(),
      updatedAt: text(),
    },
  });
  const revisions = revisionTable(connection);
  return {
    ...rowRepository(table),
    ofRun: (runId) => table.many('WHERE run_id = ? ORDER BY seq', runId),
    ofTask: (taskId) => table.many('WHERE task_id = ? ORDER BY seq', taskId),
    insertRevision: (revision) => revisions.insert(revision),
    revision: (proposalId, number) => revisions.one('WHERE proposal_id = ? AND number = ?', proposalId, number),
    revisions: (proposalId) => revisions.many('WHERE proposal_id = ? ORDER BY number', proposalId),
  };
}
