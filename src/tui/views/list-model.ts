import type { ListId } from '../state/panes.ts';
import type { ScreenData, Selection, UiState } from '../state/screen-state.ts';
import { fitCells } from '../text/measure.ts';
import { fitRow, type Row, seg, spreadRow } from '../text/row.ts';
import { claimList } from './lists/claims.ts';
import { eventList } from './lists/events.ts';
import type { ListSource } from './lists/list-source.ts';
import { proposalList } from './lists/proposals.ts';
import { runList } from './lists/runs.ts';
import { sessionList } from './lists/sessions.ts';
import { taskList } from './lists/tasks.ts';
import { transactionList } from './lists/transactions.ts';

/** A filtered, ordered list. Making it costs its length; a row costs only itself. */
export interface ListModel {
  readonly count: number;
  /** Before filtering. */
  readonly all: number;
  readonly empty: string;
  idAt(index: number): string | null;
  indexOf(id: string): number;
  /** Exactly `cells` cells. `marked` puts the selection mark in front. */
  row(index: number, cells: number, marked: boolean, nowMs: number): Row;
}

export type ListModels = (list: ListId, data: ScreenData, filter: string) => ListModel;

/** A reader of list models that keeps the last one of each list while neither its data nor its filter changes. */
export function listModels(): ListModels {
  const kept = new Map<ListId, { readonly key: unknown; readonly filter: string; readonly model: ListModel }>();
  return (list, data, filter) => {
    const key = list === 'events' ? data.events : data.snapshot;
    const last = kept.get(list);
    if (last !== undefined && last.key === key && last.filter === filter) return last.model;
    const model = modelOf(list, data, filter);
    kept.set(list, { key, filter, model });
    return model;
  };
}

/** Where the selection is now: by its id, else at its old place; -1 when the list is empty. */
export function selectedIndex(model: ListModel, selection: Selection): number {
  if (model.count === 0) return -1;
  if (selection.id === null) return 0;
  const index = model.indexOf(selection.id);
  return index >= 0 ? index : Math.min(selection.index, model.count - 1);
}

export function selectedId(models: ListModels, data: ScreenData, ui: UiState, list: ListId): string | null {
  const model = models(list, data, ui.filters[list]);
  const index = selectedIndex(model, ui.selections[list]);
  return index < 0 ? null : model.idAt(index);
}

/** First row of a window of `height` rows that keeps the selection near its middle. */
export function windowTop(selected: number, height: number, count: number): number {
  return Math.max(0, Math.min(selected - Math.floor(height / 2), count - height));
}

function modelOf(list: ListId, data: ScreenData, filter: string): ListModel {
  switch (list) {
    case 'runs':
      return build(runList, data, filter);
    case 'tasks':
      return build(taskList, data, filter);
    case 'proposals':
      return build(proposalList, data, filter);
    case 'sessions':
      return build(sessionList, data, filter);
    case 'claims':
      return build(claimList, data, filter);
    case 'events':
      return build(eventList, data, filter);
    case 'transactions':
      return build(transactionList, data, filter);
  }
}

function build<T>(source: ListSource<T>, data: ScreenData, filter: string): ListModel {
  const everything = source.items(data);
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const items =
    words.length === 0
      ? everything
      : everything.filter((item) => {
          const text = source.search(item).toLowerCase();
          return words.every((word) => text.includes(word));
        });
  let places: Map<string, number> | null = null;
  return {
    count: items.length,
    all: everything.length,
    empty: everything.length > 0 ? `nothing matches “${filter}”: Esc clears the filter` : source.empty,
    idAt: (index) => {
      const item = items[index];
      return item === undefined ? null : source.id(item);
    },
    indexOf: (id) => {
      places ??= new Map(items.map((item, index) => [source.id(item), index]));
      return places.get(id) ?? -1;
    },
    row: (index, cells, marked, nowMs) => {
      const item = items[index];
      if (item === undefined) return fitRow([], cells);
      const entry = source.entry(item, data, nowMs);
      const mark = marked ? '▸' : ' ';
      const name = fitCells(entry.id, Math.max(4, entry.id.length));
      const left: Row = [seg(`${mark}${name} `, marked ? 'strong' : 'plain'), ...entry.body];
      // In a narrow list what is said matters more than what stands at the edge.
      return cells < 34 ? fitRow(left, cells) : spreadRow(left, entry.right, cells);
    },
  };
}
