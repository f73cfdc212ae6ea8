import type { ScreenData } from '../../state/screen-state.ts';
import type { Row } from '../../text/row.ts';

/** One entry of a list: its name, what is said about it, and what stands at the right edge. */
export interface ListEntry {
  readonly id: string;
  readonly body: Row;
  readonly right: Row;
}

/** How one list is read from the data; the list model windows and filters it. */
export interface ListSource<T> {
  /** What to say, and what to press, when there is nothing. */
  readonly empty: string;
  readonly items: (data: ScreenData) => readonly T[];
  readonly id: (item: T) => string;
  /** Text that a filter looks in. */
  readonly search: (item: T) => string;
  readonly entry: (item: T, data: ScreenData, nowMs: number) => ListEntry;
}

/** Stable sort: first by rank, then the order they came in turned round (newest first). */
export function newestFirst<T>(items: readonly T[], rank: (item: T) => number = () => 0): readonly T[] {
  return items
    .map((item, index) => ({ item, index, rank: rank(item) }))
    .sort((a, b) => a.rank - b.rank || b.index - a.index)
    .map(({ item }) => item);
}

/** Ids that wait for the operator. */
export function attentionIds(data: ScreenData): ReadonlySet<string> {
  return new Set(data.snapshot?.attention.map((item) => item.id));
}
