import type { ClaimRecord } from '../domain/records.ts';
import type { ClaimRepository } from '../ports/store.ts';
import { integer, text, textOrNull } from './columns.ts';
import type { Connection } from './connection.ts';
import { nextCount } from './counters.ts';
import { rowRepository } from './row-repository.ts';
import { Table } from './table.ts';

export function claimRepository(connection: Connection): ClaimRepository {
  const table = new Table<ClaimRecord>(connection, {
    name: 'claims',
    key: ['id'],
    lifecycle: 'claim',
    columns: {
      id: text(),
      runId: text(),
      taskId: textOrNull(),
      sessionId: textOrNull(),
      agentId: text(),
      mode: text(),
      resourceKind: text(),
      path: text(),
      status: text(),
      statusReason: textOrNull(),
      fencingToken: integer(),
      expiresAt: text(),
      createdAt: text(),
      updatedAt: text(),
    },
  });
  return {
    ...rowRepository(table),
    activeOverlapping(resourceKind, path) {
      const exactly = JSON.stringify([...ancestors(path), path]);
      if (resourceKind === 'file') return table.many(SAME_OR_ABOVE, exactly);
      // Everything inside `src/` sorts after it and before `src0`, the character after the slash being 0.
      return table.many(SAME_OR_ABOVE_OR_INSIDE, exactly, path, `${path.slice(0, -1)}0`);
    },
    active: () => table.many("WHERE status = 'active' ORDER BY seq"),
    ofSession: (sessionId) => table.many('WHERE session_id = ? ORDER BY seq', sessionId),
    nextFencingToken: () => nextCount(connection, 'fencing_token'),
  };
}

// Both halves are searches in the index of active paths (binary order, so that `_` and `%` mean themselves).
const PATHS_ABOVE = "SELECT seq FROM claims WHERE status = 'active' AND path IN (SELECT value FROM json_each(?))";
const PATHS_INSIDE = "SELECT seq FROM claims WHERE status = 'active' AND path > ? AND path < ?";
const SAME_OR_ABOVE = `WHERE seq IN (${PATHS_ABOVE}) ORDER BY seq`;
const SAME_OR_ABOVE_OR_INSIDE = `WHERE seq IN (${PATHS_ABOVE} UNION ALL ${PATHS_INSIDE}) ORDER BY seq`;

/** `a/b/c` → `a/`, `a/b/`. */
function ancestors(path: string): string[] {
  const found: string[] = [];
  for (let slash = path.indexOf('/'); slash !== -1 && slash < path.length - 1; slash = path.indexOf('/', slash + 1)) {
    found.push(path.slice(0, slash + 1));
  }
  return found;
}
