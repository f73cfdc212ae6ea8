import type { Command } from 'commander';
import { type EngineError, err, ok, type Result } from '../../src/engine/api.ts';
import { badArgument } from './usage.ts';
import { parseWhole } from './values.ts';

export interface PageOptions {
  readonly limit: number;
  readonly after?: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** What to pass as --after for more, or null at the end. */
  readonly next: string | null;
}

export const DEFAULT_LIMIT = 50;

export function addPaging(command: Command): Command {
  return command
    .option('--limit <n>', 'at most so many, 1 to 200', parseWhole('--limit', 1, 200), DEFAULT_LIMIT)
    .option('--after <id>', 'only those after this id');
}

/** The part of a list, oldest first, that the options ask for. */
export function pageOf<T extends { readonly id: string }>(
  all: readonly T[],
  options: PageOptions,
): Result<Page<T>, EngineError> {
  const { after, limit } = options;
  const start = after === undefined ? 0 : all.findIndex((item) => item.id === after) + 1;
  if (after !== undefined && start === 0) {
    return err(badArgument(`--after ${after} is not in the list`, 'use an id that the list shows'));
  }
  const items = all.slice(start, start + limit);
  const last = items.at(-1);
  return ok({ items, next: last !== undefined && start + limit < all.length ? last.id : null });
}
