import type { Repository } from '../ports/store.ts';
import type { Table } from './table.ts';

/** What every aggregate with an id offers. */
export function rowRepository<Id extends string, R extends { readonly id: Id }>(table: Table<R>): Repository<Id, R> {
  return {
    get: (id) => table.one('WHERE id = ?', id),
    insert: (record) => table.insert(record),
    update: (record) => table.update(record),
    all: () => table.many('ORDER BY seq'),
  };
}
