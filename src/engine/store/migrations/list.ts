import { firstSchema } from './0001-first-schema.ts';

export interface Migration {
  /** 1, 2, 3 … without gaps; the database's `user_version` after it ran. */
  readonly number: number;
  readonly sql: string;
}

/** Forward only. A released migration is never edited: change comes as a new one. */
export const MIGRATIONS: readonly Migration[] = [{ number: 1, sql: firstSchema }];
