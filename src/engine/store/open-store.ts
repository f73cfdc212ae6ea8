import path from 'node:path';
import Database from 'better-sqlite3';
import { err, ok, type Result } from '../domain/result.ts';
import type { Clock } from '../ports/clock.ts';
import type { Store, StoreError } from '../ports/store.ts';
import { Connection, isBusy } from './connection.ts';
import { refusedFilesystem } from './filesystems.ts';
import { migrate, refusal } from './migrate.ts';
import { SqliteStore } from './sqlite-store.ts';
import { environmentalError, isEnvironmental } from './store-errors.ts';

export interface OpenStoreOptions {
  /** The database file; its directory exists. */
  readonly path: string;
  readonly clock: Clock;
  /** True: never creates, upgrades or writes; `write` answers `store_failed`. */
  readonly readOnly?: boolean;
  /** Name of a file system on which locks can't be trusted, or null; asks the system unless given. */
  readonly refusedFilesystem?: (directory: string) => string | null;
}

/**
 * Opens the project's database, creating or upgrading it first. Synchronous, because nothing is on the screen yet; at
 * most five seconds for another process that is upgrading.
 */
export function openStore(options: OpenStoreOptions): Result<Store, StoreError> {
  const refused = (options.refusedFilesystem ?? refusedFilesystem)(path.dirname(options.path));
  if (refused !== null) return err(unsupportedFilesystem(path.dirname(options.path), refused));
  const opened = openConnection(options.path, options.readOnly === true);
  return opened.ok ? ok(new SqliteStore(opened.value, options.clock, options.readOnly === true)) : opened;
}

/** A connection to an up-to-date database, ready for interactive use. */
export function openConnection(file: string, readOnly: boolean): Result<Connection, StoreError> {
  let database: Database.Database;
  try {
    database = new Database(file, { timeout: OPEN_TIMEOUT_MS, readonly: readOnly, fileMustExist: readOnly });
  } catch (cause) {
    const failure = environmentalError(`opening ${file}`, cause);
    return err(readOnly ? { ...failure, remedy: NOTHING_YET } : failure);
  }
  try {
    const connection = new Connection(database);
    const failure = refusal(connection, file) ?? prepare(connection, file, readOnly);
    if (failure === null) return ok(connection);
    database.close();
    return err(failure);
  } catch (cause) {
    database.close();
    if (isEnvironmental(cause)) return err(environmentalError(`opening ${file}`, cause));
    throw cause;
  }
}

function prepare(connection: Connection, file: string, readOnly: boolean): StoreError | null {
  const { database } = connection;
  if (!readOnly) switchToWriteAheadLog(database);
  database.pragma('foreign_keys = ON');
  const failure = migrate(connection, file, readOnly);
  database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
  return failure;
}

const OPEN_TIMEOUT_MS = 5_000;
/** How long one try for a lock may block the event loop; longer waits are asynchronous. */
const BUSY_TIMEOUT_MS = 5;
const NOTHING_YET = 'run roundtable init first; there is nothing to read yet';
const MAX_LOG_BYTES = 64 * 1024 * 1024;

/** Switching the mode takes an exclusive lock for which SQLite doesn't wait by itself. */
function switchToWriteAheadLog(database: Database.Database): void {
  const deadline = process.hrtime.bigint() + BigInt(OPEN_TIMEOUT_MS) * 1_000_000n;
  for (;;) {
    try {
      const mode = database.pragma('journal_mode = WAL', { simple: true });
      if (mode !== 'wal') throw new Error(`the database can't use a write-ahead log (journal mode ${String(mode)})`);
      break;
    } catch (cause) {
      if (!isBusy(cause) || process.hrtime.bigint() > deadline) throw cause;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
  database.pragma(`journal_size_limit = ${MAX_LOG_BYTES}`);
}

function unsupportedFilesystem(directory: string, name: string): StoreError {
  return {
    code: 'store_unsupported_filesystem',
    message: `${directory} lies on ${name}, where the locks of the database can't be trusted`,
    remedy: 'set storage.dir to a directory on a local disk',
  };
}
