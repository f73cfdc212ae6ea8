import { randomBytes } from 'node:crypto';
import type { StoreError } from '../ports/store.ts';
import type { Connection } from './connection.ts';
import { legalMovesAreCurrent, writeLegalMoves } from './legal-moves.ts';
import { MIGRATIONS } from './migrations/list.ts';
import { storeFailed } from './store-errors.ts';

/** Brings a database that isn't refused to the newest schema, in one transaction. */
export function migrate(connection: Connection, file: string, readOnly: boolean): StoreError | null {
  if (isCurrent(connection)) return null;
  if (readOnly) return storeFailed(`${file} has an older format`, 'run any roundtable command that writes, e.g. start');
  const { database } = connection;
  return database
    .transaction((): StoreError | null => {
      // Another process may have been faster while we waited for the lock.
      const late = refusal(connection, file);
      if (late !== null || isCurrent(connection)) return late;
      for (const migration of MIGRATIONS) if (migration.number > version(connection)) apply(connection, migration);
      writeLegalMoves(database);
      database
        .prepare("INSERT INTO facts (key, value) VALUES ('project_id', ?) ON CONFLICT DO NOTHING")
        .run(randomBytes(6).toString('hex'));
      return null;
    })
    .immediate();
}

/** `RTbl`, in the header of the file, tells our databases from others'. */
const APPLICATION_ID = 0x5254626c;

/** Why the file must not be touched at all: it is another program's, or a newer version's. */
export function refusal(connection: Connection, file: string): StoreError | null {
  const { database } = connection;
  const newest = MIGRATIONS.length;
  const application = Number(database.pragma('application_id', { simple: true }));
  const isEmpty = database.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0;
  if (application !== APPLICATION_ID && !(application === 0 && isEmpty)) {
    return storeFailed(`${file} is a database of another program`, 'move it away, or set storage.dir elsewhere');
  }
  if (version(connection) <= newest) return null;
  return {
    code: 'store_newer',
    message: `${file} has format ${version(connection)}; this version of roundtable knows ${newest}`,
    remedy: 'use the newer roundtable that wrote it',
  };
}

function isCurrent(connection: Connection): boolean {
  return version(connection) === MIGRATIONS.length && legalMovesAreCurrent(connection.database);
}

function version(connection: Connection): number {
  return Number(connection.database.pragma('user_version', { simple: true }));
}

function apply(connection: Connection, migration: (typeof MIGRATIONS)[number]): void {
  connection.database.exec(migration.sql);
  connection.database.pragma(`application_id = ${APPLICATION_ID}`);
  connection.database.pragma(`user_version = ${migration.number}`);
}
