import type { z } from 'zod';
import type { SqlValue } from './connection.ts';

/** How one field of a record is kept in one column. STRICT tables and NOT NULL check the scalars, zod checks JSON. */
export interface Column<T> {
  toSql(value: T): SqlValue;
  /** Throws on text that can't be the field's value. */
  fromSql(value: SqlValue): T;
}

export type Columns<R> = { readonly [K in keyof R]-?: Column<R[K]> };

export function text<T extends string>(): Column<T> {
  return { toSql: (value) => value, fromSql: (value) => expectText(value) as T };
}

export function textOrNull<T extends string>(): Column<T | null> {
  return { toSql: (value) => value, fromSql: (value) => (value === null ? null : (expectText(value) as T)) };
}

export function integer(): Column<number> {
  return { toSql: (value) => value, fromSql: expectNumber };
}

export function integerOrNull(): Column<number | null> {
  return { toSql: (value) => value, fromSql: (value) => (value === null ? null : expectNumber(value)) };
}

export function boolean(): Column<boolean> {
  return { toSql: (value) => (value ? 1 : 0), fromSql: (value) => expectNumber(value) === 1 };
}

/** `schema` checks the shape; brands and literal types on top of it are the record's. */
export function json<T>(schema: z.ZodType): Column<T> {
  return {
    toSql: (value) => JSON.stringify(value),
    fromSql: (value) => schema.parse(JSON.parse(expectText(value))) as T,
  };
}

export function jsonOrNull<T>(schema: z.ZodType): Column<T | null> {
  const inner = json<T>(schema);
  return {
    toSql: (value) => (value === null ? null : inner.toSql(value)),
    fromSql: (value) => (value === null ? null : inner.fromSql(value)),
  };
}

function expectText(value: SqlValue): string {
  if (typeof value !== 'string') throw new TypeError(`expected text, found ${value === null ? 'null' : typeof value}`);
  return value;
}

function expectNumber(value: SqlValue): number {
  if (typeof value !== 'number')
    throw new TypeError(`expected a number, found ${value === null ? 'null' : typeof value}`);
  return value;
}
