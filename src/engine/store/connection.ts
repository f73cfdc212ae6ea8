import Database from 'better-sqlite3';

export type SqlValue = string | number | bigint | Buffer | null;
export type Statement = Database.Statement<SqlValue[], SqlValue[]>;

/**
 * One SQLite connection with its cached statements and the state of its transaction.
 * Trusts the file's schema (migrations made it) but not its text: JSON is parsed at the edge by the tables.
 * One connection is enough: transactions are synchronous, so a read can never fall between the steps of a write.
 */
export class Connection {
  /** Repositories work only inside a transaction, and change rows only inside a writing one; anything else is a bug. */
  phase: 'idle' | 'reading' | 'writing' = 'idle';
  readonly database: Database.Database;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database.Database) {
    this.database = database;
  }

  /** Rows come as arrays in column order. */
  prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.database.prepare<SqlValue[], SqlValue[]>(sql);
      if (statement.reader) statement.raw(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  assertReading(): void {
    if (this.phase === 'idle') throw new Error('a repository was used outside of its transaction');
  }

  assertWriting(): void {
    if (this.phase !== 'writing') throw new Error('a row was to be changed outside of a writing transaction');
  }
}

export function isSqliteError(cause: unknown): cause is InstanceType<typeof Database.SqliteError> {
  return cause instanceof Database.SqliteError;
}

export function isBusy(cause: unknown): boolean {
  return isSqliteError(cause) && cause.code.startsWith('SQLITE_BUSY');
}
