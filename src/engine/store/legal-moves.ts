import type { Database } from 'better-sqlite3';
import { LIFECYCLES } from '../domain/lifecycle.ts';

/** True when the triggers of the database judge by the same table as the domain. */
export function legalMovesAreCurrent(database: Database): boolean {
  const rows = database.prepare('SELECT entity, from_status, to_status FROM legal_moves').raw().all() as string[][];
  const stored = new Set(rows.map((row) => row.join('>')));
  const wanted = legalMoves().map((move) => move.join('>'));
  return stored.size === wanted.length && wanted.every((move) => stored.has(move));
}

/** Inside the caller's transaction. */
export function writeLegalMoves(database: Database): void {
  database.exec('DELETE FROM legal_moves');
  const insert = database.prepare('INSERT INTO legal_moves (entity, from_status, to_status) VALUES (?, ?, ?)');
  for (const move of legalMoves()) insert.run(...move);
}

function legalMoves(): [string, string, string][] {
  return Object.entries(LIFECYCLES).flatMap(([entity, table]) =>
    Object.entries(table as Record<string, readonly string[]>).flatMap(([from, targets]) =>
      targets.map((to): [string, string, string] => [entity, from, to]),
    ),
  );
}
