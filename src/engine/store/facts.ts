import type { Repositories } from '../ports/store.ts';
import type { Connection } from './connection.ts';

export function factsRepository(connection: Connection): Repositories['facts'] {
  return {
    get(key) {
      connection.assertReading();
      const row = connection.prepare('SELECT value FROM facts WHERE key = ?').get(key);
      return row === undefined ? null : String(row[0]);
    },
    set(key, value) {
      connection.assertWriting();
      connection.prepare(SET).run(key, value);
    },
  };
}

const SET = 'INSERT INTO facts (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value';
