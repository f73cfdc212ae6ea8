import type { AgentRecord } from '../domain/records.ts';
import type { AgentRepository } from '../ports/store.ts';
import { boolean, integer, text } from './columns.ts';
import type { Connection } from './connection.ts';
import { rowRepository } from './row-repository.ts';
import { Table } from './table.ts';

export function agentRepository(connection: Connection): AgentRepository {
  const table = new Table<AgentRecord>(connection, {
    name: 'agents',
    key: ['id'],
    lifecycle: 'agent',
    columns: {
      id: text(),
      role: text(),
      adapter: text(),
      model: text(),
      maxSessions: integer(),
      status: text(),
      enabledByOperator: boolean(),
      retired: boolean(),
      updatedAt: text(),
    },
  });
  return rowRepository(table);
}
