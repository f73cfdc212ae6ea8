import { initialState, type ScreenState } from './state/screen-state.ts';

/** One external store of a screen, as `useSyncExternalStore` wants it. */
export interface ValueStore<S> {
  readonly getSnapshot: () => S;
  readonly subscribe: (listener: () => void) => () => void;
  /** Answering the same state means: nothing changed, nobody is told. */
  update(change: (state: S) => S): void;
  close(): void;
}

export type ScreenStore = ValueStore<ScreenState>;

/** Frames per second at most; the listeners of many changes within one frame are told once. */
const MAX_FPS = 60;

export function screenStore(size: { columns: number; rows: number }, nowMs: number): ScreenStore {
  return valueStore(initialState(size, nowMs));
}

export function valueStore<S>(initial: S): ValueStore<S> {
  const listeners = new Set<() => void>();
  let state = initial;
  let lastToldMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | null = null;

  function tell(): void {
    timer = null;
    lastToldMs = performance.now();
    for (const listener of listeners) listener();
  }

  return {
    getSnapshot: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    update(change) {
      const next = change(state);
      if (next === state) return;
      state = next;
      // After a pause the first change is told with the current turn's other changes, not a frame later.
      timer ??= setTimeout(tell, Math.max(0, lastToldMs + 1000 / MAX_FPS - performance.now()));
    },
    close() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      listeners.clear();
    },
  };
}
