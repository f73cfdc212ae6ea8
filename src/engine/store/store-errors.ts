import type { LifecycleEntity } from '../domain/lifecycle.ts';
import type { StoreError } from '../ports/store.ts';
import { isBusy, isSqliteError } from './connection.ts';

/** Bug: a row was to make a move that its lifecycle doesn't list. The database refused it and nothing was written. */
export class IllegalStatusChange extends Error {
  readonly code = 'illegal_status_change';
  readonly entity: LifecycleEntity;
  readonly id: string;
  readonly from: string | null;
  readonly to: string;

  constructor(entity: LifecycleEntity, id: string, from: string | null, to: string, cause: unknown) {
    const was = from === null ? `can't start as ${to}` : `is ${from} and can't become ${to}`;
    super(`the database refused an illegal status change: ${entity} ${id} ${was}`, { cause });
    this.name = 'IllegalStatusChange';
    this.entity = entity;
    this.id = id;
    this.from = from;
    this.to = to;
  }
}

/** A row holds text that no version of this program wrote. */
export class CorruptRow extends Error {
  readonly code = 'corrupt_row';
  readonly table: string;
  readonly id: string;
  readonly column: string;

  constructor(table: string, id: string, column: string, cause: unknown) {
    super(`row ${id} of table ${table} is corrupt: column ${column} can't be read`, { cause });
    this.name = 'CorruptRow';
    this.table = table;
    this.id = id;
    this.column = column;
  }
}

/** The machine's fault (disk full, file damaged, permissions), not the caller's: an expected failure. */
export function isEnvironmental(cause: unknown): boolean {
  return isSqliteError(cause) && ENVIRONMENTAL.test(cause.code);
}

const ENVIRONMENTAL = /^SQLITE_(?:BUSY|IOERR|FULL|CORRUPT|NOTADB|CANTOPEN|READONLY|PERM|NOMEM|PROTOCOL|AUTH)/;

export function environmentalError(doing: string, cause: unknown): StoreError {
  if (isBusy(cause)) return busyError(doing);
  const code = isSqliteError(cause) ? cause.code : 'unknown';
  const detail = cause instanceof Error ? cause.message : String(cause);
  return {
    code: 'store_failed',
    message: `${doing} failed: ${detail} (${code})`,
    remedy: REMEDIES.find(([pattern]) => pattern.test(code))?.[1] ?? 'look at the state directory and try again',
  };
}

const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/FULL/, 'free space on the disk that holds the state directory'],
  [/CORRUPT|NOTADB/, 'restore the database from a backup; its file is damaged'],
  [/CANTOPEN|READONLY|PERM|AUTH/, 'make the state directory writable for your user'],
  [/IOERR/, 'check the disk that holds the state directory'],
];

export function busyError(doing: string): StoreError {
  return {
    code: 'store_busy',
    message: `${doing} gave up: another process kept the write lock`,
    remedy: 'try again; if it stays busy, look which roundtable process is stuck',
  };
}

export function storeFailed(message: string, remedy: string): StoreError {
  return { code: 'store_failed', message, remedy };
}
