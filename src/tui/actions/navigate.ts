import { isList, LIST_IDS, type ListId, type PaneId } from '../state/panes.ts';
import type { UiState } from '../state/screen-state.ts';
import { textField } from '../text/text-field.ts';
import { lastTop } from '../views/details/detail-model.ts';
import { paneBox } from '../views/layout.ts';
import { selectedIndex } from '../views/list-model.ts';
import { logTop } from '../views/log.ts';
import { type Action, type ActionHost, type ActionView, say } from './action.ts';

const SIDE_STEP = 8;

/** Moves by `step` rows in whatever is focused: a selection, a scroll position, a log. */
export function move(step: (height: number) => number): Action {
  return { run: (view, host) => moveBy(view, host, (height) => ({ by: step(height) })) };
}

export function moveToEnd(end: 'first' | 'last'): Action {
  return { run: (view, host) => moveBy(view, host, () => ({ to: end })) };
}

type Motion = { readonly by: number } | { readonly to: 'first' | 'last' };

function moveBy(view: ActionView, host: ActionHost, motion: (height: number) => Motion): void {
  const { ui, data } = view.state;
  const { focus } = ui;
  if (isList(focus)) {
    const height = paneBox(view.layout, focus)?.height ?? 1;
    moveSelection(view, host, focus, motion(height));
    return;
  }
  if (focus === 'detail') {
    const { model, height } = view.detail();
    const most = lastTop(model, height);
    const way = motion(height);
    const end = Math.max(0, model.total - height);
    const top = 'by' in way ? Math.min(ui.detail.top, most) + way.by : way.to === 'first' ? 0 : end;
    scrollDetail(host, Math.max(0, Math.min(top, most)));
    return;
  }
  const { log } = data;
  if (log === null) return;
  const height = paneBox(view.layout, 'log')?.height ?? 1;
  const way = motion(height);
  if ('to' in way) {
    host.update((now) => ({ ...now, log: { ...now.log, top: way.to === 'last' ? null : log.buffer.first } }));
    return;
  }
  const last = Math.max(log.buffer.first, log.buffer.end - height);
  const top = logTop(log, ui.log, height) + way.by;
  // Reaching the end by moving down is how one starts to follow again.
  host.update((now) => ({ ...now, log: { ...now.log, top: top >= last ? null : Math.max(log.buffer.first, top) } }));
}

function moveSelection(view: ActionView, host: ActionHost, list: ListId, motion: Motion): void {
  const { ui, data } = view.state;
  const model = view.models(list, data, ui.filters[list]);
  if (model.count === 0) return;
  const now = selectedIndex(model, ui.selections[list]);
  const wanted = 'by' in motion ? now + motion.by : motion.to === 'first' ? 0 : model.count - 1;
  const index = Math.max(0, Math.min(wanted, model.count - 1));
  host.update((before) => selectAt(before, list, model.idAt(index), index));
}

/** The selection moves; what the right side showed of the old one starts at its top. */
export function selectAt(ui: UiState, list: ListId, id: string | null, index: number): UiState {
  const same = ui.list === list && ui.selections[list].id === id;
  return {
    ...ui,
    list,
    selections: { ...ui.selections, [list]: { id, index } },
    detail: same ? ui.detail : { top: 0, left: 0 },
  };
}

export function focusPane(ui: UiState, pane: PaneId): UiState {
  if (!isList(pane)) return { ...ui, focus: pane };
  return { ...ui, focus: pane, list: pane, detail: ui.list === pane ? ui.detail : { top: 0, left: 0 } };
}

export function goToList(index: number): Action {
  return {
    run: (_view, host) => {
      const list = LIST_IDS[index];
      if (list !== undefined) host.update((ui) => ({ ...focusPane(ui, list), zoom: false }));
    },
  };
}

const ORDER: readonly PaneId[] = [...LIST_IDS, 'detail', 'log'];

export function cyclePane(step: 1 | -1): Action {
  return {
    run: (_view, host) =>
      host.update((ui) => {
        const at = ORDER.indexOf(ui.focus);
        return focusPane(ui, ORDER[(at + step + ORDER.length) % ORDER.length] ?? ui.focus);
      }),
  };
}

export const paneRight: Action = {
  unavailable: (view) => (view.state.ui.focus === 'log' ? 'there is nothing to the right' : null),
  run: (_view, host) => host.update((ui) => focusPane(ui, ui.focus === 'detail' ? 'log' : 'detail')),
};

export const paneLeft: Action = {
  unavailable: (view) => (isList(view.state.ui.focus) ? 'there is nothing to the left' : null),
  run: (_view, host) => host.update((ui) => focusPane(ui, ui.focus === 'log' ? 'detail' : ui.list)),
};

export const open: Action = {
  unavailable: (view) => (view.selected === null ? 'nothing is selected' : null),
  run: (_view, host) => host.update((ui) => focusPane(ui, 'detail')),
};

/** Esc goes one step back: a notice, then zoom, then the pane, then the filter. */
export const back: Action = {
  run: (_view, host) =>
    host.update((ui) => {
      if (ui.notice !== null) return { ...ui, notice: null };
      if (ui.zoom) return { ...ui, zoom: false };
      if (!isList(ui.focus)) return focusPane(ui, ui.list);
      if (ui.filters[ui.list] !== '') return { ...ui, filters: { ...ui.filters, [ui.list]: '' } };
      return ui;
    }),
};

export const zoom: Action = { run: (_view, host) => host.update((ui) => ({ ...ui, zoom: !ui.zoom })) };

export const filter: Action = {
  unavailable: (view) => (isList(view.state.ui.focus) ? null : 'only lists are filtered: Esc goes back to the list'),
  run: (_view, host) =>
    host.update((ui) => {
      const before = ui.filters[ui.list];
      return { ...ui, filtering: { list: ui.list, field: textField(before), before } };
    }),
};

export function sideways(step: 1 | -1): Action {
  return {
    run: (_view, host) =>
      host.update((ui) => {
        const pane = ui.focus === 'log' ? 'log' : 'detail';
        const left = Math.max(0, ui[pane].left + step * SIDE_STEP);
        return pane === 'log' ? { ...ui, log: { ...ui.log, left } } : { ...ui, detail: { ...ui.detail, left } };
      }),
  };
}

/** To the next or previous file or hunk of the diff that is shown. */
export function jump(mark: 'files' | 'hunks', step: 1 | -1): Action {
  return {
    unavailable: (view) =>
      view.detail().model[mark].length === 0 ? 'there is no diff here: 3 shows the proposals' : null,
    run: (view, host) => {
      const { model, height } = view.detail();
      const top = Math.min(view.state.ui.detail.top, lastTop(model, height));
      const marks = model[mark];
      const target =
        step === 1 ? marks.find((position) => position > top) : marks.findLast((position) => position < top);
      if (target === undefined) {
        say(host, step === 1 ? `this is the last ${mark.slice(0, -1)}` : `this is the first ${mark.slice(0, -1)}`);
        return;
      }
      scrollDetail(host, target);
    },
  };
}

function scrollDetail(host: ActionHost, top: number): void {
  host.update((ui) => ({ ...ui, detail: { ...ui.detail, top } }));
}

/** Through the things that need the operator, one after the other. */
export const nextAttention: Action = {
  unavailable: (view) => ((view.state.data.snapshot?.attention.length ?? 0) === 0 ? 'nothing needs you' : null),
  run: (view, host) => {
    const items = view.state.data.snapshot?.attention ?? [];
    const at = items.findIndex((item) => item.id === view.selected);
    const next = items[(at + 1) % items.length];
    if (next === undefined) return;
    const list = next.entity === 'proposal' ? 'proposals' : next.entity === 'task' ? 'tasks' : 'transactions';
    host.update((ui) => {
      const shown = { ...ui, filters: { ...ui.filters, [list]: '' }, notice: null };
      return selectAt(focusPane(shown, list), list, next.id, view.models(list, view.state.data, '').indexOf(next.id));
    });
    say(host, next.text);
  },
};
