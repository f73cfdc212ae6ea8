import type { Engine, EngineError } from '../engine/api.ts';
import type { ActionHost } from './actions/action.ts';
import { ACTIONS } from './actions/actions.ts';
import { dialogKey } from './actions/dialog-keys.ts';
import { detailFeed } from './feeds/detail-feed.ts';
import { eventTail } from './feeds/event-tail.ts';
import { logFeed } from './feeds/log-feed.ts';
import { snapshotFeed } from './feeds/snapshot-feed.ts';
import { findBinding } from './keymap/bindings.ts';
import type { UiState } from './state/screen-state.ts';
import type { ScreenStore } from './store.ts';
import type { Key } from './terminal/decode-keys.ts';
import { editField, fieldText, insertText } from './text/text-field.ts';
import type { ListModels } from './views/list-model.ts';
import { logTarget } from './views/log-target.ts';
import { viewOf } from './views/view.ts';
import { isLiveSession } from './views/words.ts';

export interface ControllerHost {
  exit(how: 'drain' | 'stop', code: number): void;
  suspend(): void;
  redraw(): void;
}

export interface Controller {
  keys(keys: readonly Key[]): void;
  close(): void;
}

/** Events kept for the list; older ones are in the store and on the command line. */
const MAX_EVENTS = 1_000;
const INFO_MS = 6_000;

/** Joins engine, store and keys: feeds write into the store, keys run actions, actions send commands. */
export function screenController(
  engine: Engine,
  store: ScreenStore,
  models: ListModels,
  outside: ControllerHost,
  now: () => number,
): Controller {
  let closed = false;
  const update = (change: (ui: UiState) => UiState): void =>
    store.update((state) => {
      const ui = change(state.ui);
      return ui === state.ui ? state : { ...state, ui };
    });
  const fail = (error: Pick<EngineError, 'message' | 'remedy'>): void =>
    update((ui) => ({ ...ui, notice: { level: 'error', text: error.message, remedy: error.remedy } }));

  const snapshots = snapshotFeed(
    engine,
    (snapshot) => store.update((state) => ({ ...state, nowMs: now(), data: { ...state.data, snapshot, stale: null } })),
    (stale) => store.update((state) => ({ ...state, data: { ...state.data, stale } })),
  );
  const tail = eventTail(engine, {
    runId: null,
    backlog: 200,
    onEvents: (events) =>
      store.update((state) => ({
        ...state,
        data: { ...state.data, events: [...state.data.events, ...events].slice(-MAX_EVENTS) },
      })),
    // The snapshot feed asks the same engine and says when it does not answer.
    onProblem: () => undefined,
  });
  const logs = logFeed(engine, (log) =>
    store.update((state) => {
      const same = state.data.log?.sessionId === log?.sessionId;
      const ui = same ? state.ui : { ...state.ui, log: { top: null, left: 0 } };
      return { ...state, ui, data: { ...state.data, log } };
    }),
  );
  const details = detailFeed(
    engine,
    (diff) => store.update((state) => ({ ...state, data: { ...state.data, diff } })),
    (transaction) => store.update((state) => ({ ...state, data: { ...state.data, transaction } })),
  );

  const unsubscribe = store.subscribe(() => {
    const state = store.getSnapshot();
    const { data, ui } = state;
    if (data.snapshot === null) return;
    const { selected } = viewOf(state, models);
    const proposal =
      ui.list === 'proposals' ? (data.snapshot.proposals.find((item) => item.id === selected) ?? null) : null;
    const wanted =
      ui.dialog?.kind === 'rollback' ? ui.dialog.transactionId : ui.list === 'transactions' ? selected : null;
    details.show(proposal, wanted, data.snapshot.lastEventId);
    logs.follow(logTarget(data, ui.list, selected));
  });

  // Ages of live sessions move every second; otherwise a coarse clock is enough and the process sleeps.
  let beats = 0;
  const clock = setInterval(() => {
    beats++;
    store.update((state) => {
      const live = state.data.snapshot?.sessions.some((session) => isLiveSession(session.status)) ?? false;
      return live || beats % 15 === 0 ? { ...state, nowMs: now() } : state;
    });
  }, 1_000);

  let infoTimer: NodeJS.Timeout | null = null;
  const host: ActionHost = {
    update(change) {
      update(change);
      const shown = store.getSnapshot().ui.notice;
      if (shown === null || shown.level === 'error') return;
      if (infoTimer !== null) clearTimeout(infoTimer);
      infoTimer = setTimeout(() => update((ui) => (ui.notice === shown ? { ...ui, notice: null } : ui)), INFO_MS);
    },
    command(name, input, label, done) {
      if (store.getSnapshot().ui.busy.includes(label)) return;
      update((ui) => ({ ...ui, busy: [...ui.busy, label] }));
      void engine
        .command(name, input, 'operator')
        .then((result) => {
          if (closed) return;
          if (result.ok)
            host.update((ui) => ({ ...ui, notice: { level: 'done', text: done(result.value), remedy: '' } }));
          else fail({ ...result.error, message: `${label}: ${result.error.message}` });
        })
        .catch((error: unknown) => {
          const message = error instanceof Error ? error.message : String(error);
          if (!closed) fail({ message: `${label}: ${message}`, remedy: 'this is a bug: please report it' });
        })
        .finally(() => {
          if (closed) return;
          update((ui) => ({ ...ui, busy: ui.busy.filter((other) => other !== label) }));
          snapshots.refresh();
        });
    },
    exit: outside.exit,
    suspend: outside.suspend,
    redraw: outside.redraw,
  };

  function key(pressed: Key): void {
    const view = viewOf(store.getSnapshot(), models);
    const { ui } = view.state;
    // An answer that was only told disappears with the next key; an error waits for Esc.
    if (ui.notice !== null && ui.notice.level !== 'error') update((before) => ({ ...before, notice: null }));
    if (view.layout.kind === 'too_small' && pressed.name !== 'q' && pressed.name !== 'ctrl-c' && ui.dialog === null)
      return;
    if (ui.dialog !== null) {
      dialogKey(view, host, ui.dialog, pressed);
      return;
    }
    if (ui.filtering !== null) {
      filterKey(ui, ui.filtering, pressed);
      return;
    }
    if (pressed.name === 'paste') return;
    const binding = findBinding(ui.focus, pressed.name);
    if (binding === null) return;
    const action = ACTIONS[binding.action];
    const reason = action.unavailable?.(view) ?? null;
    if (reason === null) action.run(view, host);
    else if (ui.notice?.level !== 'error') {
      host.update((before) => ({
        ...before,
        notice: { level: 'info', text: `${binding.show}: ${reason}`, remedy: '' },
      }));
    }
  }

  function filterKey(ui: UiState, filtering: NonNullable<UiState['filtering']>, pressed: Key): void {
    const { list, before } = filtering;
    const first = { id: null, index: 0 };
    if (pressed.name === 'enter') update((now) => ({ ...now, filtering: null }));
    else if (pressed.name === 'esc' || pressed.name === 'ctrl-c') {
      update((now) => ({ ...now, filtering: null, filters: { ...ui.filters, [list]: before } }));
    } else {
      const field =
        pressed.text === undefined
          ? editField(filtering.field, pressed.name)
          : insertText(filtering.field, pressed.text.replace(/\s+/g, ' '));
      if (field === null) return;
      update((now) => ({
        ...now,
        filtering: { ...filtering, field },
        filters: { ...now.filters, [list]: fieldText(field) },
        selections: { ...now.selections, [list]: first },
      }));
    }
  }

  return {
    keys(pressed) {
      for (const one of pressed) if (!closed) key(one);
    },
    close() {
      closed = true;
      clearInterval(clock);
      if (infoTimer !== null) clearTimeout(infoTimer);
      unsubscribe();
      details.close();
      logs.close();
      tail.close();
      snapshots.close();
    },
  };
}
