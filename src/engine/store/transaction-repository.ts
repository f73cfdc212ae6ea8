import type { TransactionPhaseRecord, TransactionRecord } from '../domain/records.ts';
import type { TransactionRepository } from '../ports/store.ts';
import { boolean, integer, text, textOrNull } from './columns.ts';
import type { Connection } from './connection.ts';
import { rowRepository } from './row-repository.ts';
import { openStatuses } from './statuses.ts';
import { Table } from './table.ts';

export function transactionRepository(connection: Connection): TransactionRepository {
  const table = new Table<TransactionRecord>(connection, {
    name: 'transactions',
    key: ['id'],
    lifecycle: 'transaction',
    columns: {
      id: text(),
      kind: text(),
      proposalId: text(),
      revision: integer(),
      revertsId: textOrNull(),
      status: text(),
      statusReason: textOrNull(),
      needsOperator: boolean(),
      targetRef: text(),
      oldCommit: text(),
      newCommit: textOrNull(),
      journal: text(),
      createdAt: text(),
      endedAt: textOrNull(),
    },
  });
  const phases = phaseTable(connection);
  // Applied ones may still be reverted, but nothing of them is left to close.
  const open = `WHERE status IN (${openStatuses('transaction', ['applied'])}) ORDER BY seq`;
  return {
    ...rowRepository(table),
    open: () => table.many(open),
    ofProposal: (proposalId) => table.many('WHERE proposal_id = ? ORDER BY seq', proposalId),
    insertPhase: (phase) => phases.insert(phase),
    updatePhase: (phase) => phases.update(phase),
    phases: (id) => phases.many('WHERE transaction_id = ? ORDER BY sequence', id),
  };
}

function phaseTable(connection: Connection): Table<TransactionPhaseRecord> {
  return new Table<TransactionPhaseRecord>(connection, {
    name: 'transaction_phases',
    key: ['transactionId', 'sequence'],
    columns: {
      transactionId: text(),
      sequence: integer(),
      phase: text(),
      startedAt: text(),
      endedAt: textOrNull(),
      outcome: textOrNull(),
      detail: textOrNull(),
    },
  });
}
