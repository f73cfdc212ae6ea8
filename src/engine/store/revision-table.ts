import { z } from 'zod';
import type { RevisionRecord } from '../domain/records.ts';
import { integer, integerOrNull, json, text, textOrNull } from './columns.ts';
import type { Connection } from './connection.ts';
import { Table } from './table.ts';

export function revisionTable(connection: Connection): Table<RevisionRecord> {
  return new Table<RevisionRecord>(connection, {
    name: 'revisions',
    key: ['proposalId', 'number'],
    columns: {
      proposalId: text(),
      number: integer(),
      source: text(),
      author: text(),
      parent: integerOrNull(),
      baseCommit: text(),
      baseTree: text(),
      resultTree: text(),
      patchDigest: text(),
      rollbackPlan: textOrNull(),
      changes: json(z.array(change())),
      additions: integer(),
      deletions: integer(),
      highRiskPaths: json(z.array(z.string())),
      policyDigest: text(),
      policy: json(z.object({ testsRequired: z.boolean(), humanApprovalRequired: z.boolean() })),
      createdAt: text(),
    },
  });
}

function change(): z.ZodType {
  const nullable = z.string().nullable();
  return z.object({ path: z.string(), oldMode: nullable, newMode: nullable, oldId: nullable, newId: nullable });
}
