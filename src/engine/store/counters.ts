import type { Connection } from './connection.ts';

/** The next number of a sequence that never goes back, from 1; part of the transaction, so a rollback gives it back. */
export function nextCount(connection: Connection, name: string): number {
  connection.assertWriting();
  const row = connection.prepare(NEXT).get(name);
  return Number(row?.[0]);
}

const NEXT = `INSERT INTO counters (name, value) VALUES (?, 1)
  ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value`;
