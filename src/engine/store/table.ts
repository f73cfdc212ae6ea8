import type { LifecycleEntity } from '../domain/lifecycle.ts';
import type { Column, Columns } from './columns.ts';
import { type Connection, isSqliteError, type SqlValue } from './connection.ts';
import { CorruptRow, IllegalStatusChange } from './store-errors.ts';

export interface TableShape<R> {
  readonly name: string;
  readonly columns: Columns<R>;
  /** Fields that name a row; `update` finds it by them and never changes them. */
  readonly key: readonly (keyof R & string)[];
  /** The lifecycle whose moves the database guards on this table. */
  readonly lifecycle?: LifecycleEntity;
}

/** Records of one type in one table. `where` texts are constants of the caller; values always go in as parameters. */
export class Table<R extends object> {
  readonly #connection: Connection;
  readonly #shape: TableShape<R>;
  readonly #fields: readonly (keyof R & string)[];
  readonly #changing: readonly (keyof R & string)[];
  readonly #insertSql: string;
  readonly #updateSql: string;
  readonly #selectSql: string;

  constructor(connection: Connection, shape: TableShape<R>) {
    this.#connection = connection;
    this.#shape = shape;
    this.#fields = Object.keys(shape.columns) as (keyof R & string)[];
    this.#changing = this.#fields.filter((field) => !shape.key.includes(field));
    const names = this.#fields.map(columnName);
    const assignments = this.#changing.map((field) => `${columnName(field)} = ?`);
    const keys = shape.key.map((field) => `${columnName(field)} = ?`);
    this.#insertSql = `INSERT INTO ${shape.name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
    this.#updateSql = `UPDATE ${shape.name} SET ${assignments.join(', ')} WHERE ${keys.join(' AND ')}`;
    this.#selectSql = `SELECT ${names.join(', ')} FROM ${shape.name}`;
  }

  insert(record: R): void {
    this.#connection.assertWriting();
    this.#run(this.#insertSql, record, this.#values(record, this.#fields));
  }

  update(record: R): void {
    this.#connection.assertWriting();
    const values = [...this.#values(record, this.#changing), ...this.#values(record, this.#shape.key)];
    const changed = this.#run(this.#updateSql, record, values);
    if (changed !== 1) throw new Error(`${this.#shape.name} has no row ${this.#keyOf(record)} to update`);
  }

  one(where: string, ...parameters: SqlValue[]): R | null {
    this.#connection.assertReading();
    const row = this.#connection.prepare(`${this.#selectSql} ${where}`).get(...parameters);
    return row === undefined ? null : this.#record(row);
  }

  many(where: string, ...parameters: SqlValue[]): R[] {
    this.#connection.assertReading();
    const rows = this.#connection.prepare(`${this.#selectSql} ${where}`).all(...parameters);
    return rows.map((row) => this.#record(row));
  }

  #run(sql: string, record: R, values: SqlValue[]): number {
    try {
      return this.#connection.prepare(sql).run(...values).changes;
    } catch (cause) {
      throw this.#named(cause, record);
    }
  }

  /** The trigger's message is a constant; who tried which move is added here. */
  #named(cause: unknown, record: R): unknown {
    const { lifecycle, name } = this.#shape;
    if (lifecycle === undefined || !isSqliteError(cause)) return cause;
    const unknownStatus = cause.message === 'unknown_status';
    if (!unknownStatus && cause.message !== 'illegal_status_change') return cause;
    const { id, status } = record as { readonly id?: unknown; readonly status?: unknown };
    const row = unknownStatus
      ? undefined
      : this.#connection.prepare(`SELECT status FROM ${name} WHERE id = ?`).get(String(id));
    return new IllegalStatusChange(
      lifecycle,
      String(id),
      row === undefined ? null : String(row[0]),
      String(status),
      cause,
    );
  }

  #values(record: R, fields: readonly (keyof R & string)[]): SqlValue[] {
    return fields.map((field) => this.#shape.columns[field].toSql(record[field]));
  }

  #record(row: readonly SqlValue[]): R {
    const record: Partial<Record<keyof R, unknown>> = {};
    this.#fields.forEach((field, index) => {
      const column: Column<unknown> = this.#shape.columns[field];
      try {
        record[field] = column.fromSql(row[index] ?? null);
      } catch (cause) {
        const id = this.#shape.key.map((key) => String(row[this.#fields.indexOf(key)])).join('/');
        throw new CorruptRow(this.#shape.name, id, columnName(field), cause);
      }
    });
    return record as R;
  }

  #keyOf(record: R): string {
    return this.#shape.key.map((field) => String(record[field])).join('/');
  }
}

/** `createdAt` → `created_at`. */
function columnName(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
