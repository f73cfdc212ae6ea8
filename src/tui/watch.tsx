import type { Engine } from '../engine/api.ts';
import { eventTail } from './feeds/event-tail.ts';
import { snapshotFeed } from './feeds/snapshot-feed.ts';
import { valueStore } from './store.ts';
import type { Key } from './terminal/decode-keys.ts';
import { hostScreen } from './terminal/host-screen.ts';
import type { TuiIo } from './terminal/io.ts';
import { paletteFor } from './text/palette.ts';
import type { WatchState } from './views/watch.ts';
import { WatchApp } from './watch-app.tsx';

export interface WatchOptions {
  /** Only this run, or null for all. */
  readonly runId: string | null;
  /** Newest events to begin with, 1–1,000. */
  readonly limit: number;
}

/** Events kept for scrolling back. */
const MAX_EVENTS = 5_000;

/**
 * A live view for a narrow pane (30 columns and more) until `q`, Ctrl-C or a signal. Answers the exit code: 0 after `q`,
 * 130 after Ctrl-C, 143 or 129 after a signal, 2 without a terminal. It only reads; the caller closes the engine.
 */
export async function runWatch(engine: Engine, io: TuiIo, options: WatchOptions): Promise<number> {
  if (io.stdin.isTTY !== true || io.stdout.isTTY !== true) {
    io.stderr.write('error: watch needs a terminal; use watch --once or watch --json in scripts\n');
    return 2;
  }
  const end = await hostScreen(io, (host) => {
    const store = valueStore<WatchState>({
      snapshot: null,
      stale: null,
      runId: options.runId,
      events: [],
      back: 0,
      size: { columns: io.stdout.columns ?? 80, rows: io.stdout.rows ?? 24 },
      nowMs: Date.now(),
    });
    const snapshots = snapshotFeed(
      engine,
      (snapshot) => store.update((state) => ({ ...state, snapshot, stale: null, nowMs: Date.now() })),
      (stale) => store.update((state) => ({ ...state, stale })),
    );
    const tail = eventTail(engine, {
      runId: options.runId,
      backlog: options.limit,
      // The snapshot feed asks the same engine and says when it does not answer.
      onProblem: () => undefined,
      onEvents: (events) =>
        store.update((state) => ({
          ...state,
          events: [...state.events, ...events].slice(-MAX_EVENTS),
          // Who scrolled back keeps his place while events come in.
          back: state.back === 0 ? 0 : Math.min(state.back + events.length, MAX_EVENTS),
        })),
    });
    const onKey = (key: Key): void => {
      if (key.name === 'q') host.exit('stop', 0);
      else if (key.name === 'ctrl-c') host.exit('stop', 130);
      else if (key.name === 'ctrl-z') host.suspend();
      else if (key.name === 'ctrl-l') host.redraw();
      else store.update((state) => scrolled(state, key.name));
    };
    return {
      element: <WatchApp store={store} palette={paletteFor(io.env)} />,
      onKeys: (keys) => {
        for (const key of keys) onKey(key);
      },
      onResize: (columns, rows) => store.update((state) => ({ ...state, size: { columns, rows } })),
      close() {
        tail.close();
        snapshots.close();
        store.close();
      },
    };
  });
  if (end.kind === 'crash') throw end.error;
  return end.code;
}

function scrolled(state: WatchState, key: string): WatchState {
  const page = Math.max(1, state.size.rows - 8);
  const most = Math.max(0, state.events.length - 1);
  const to = (back: number): WatchState => ({ ...state, back: Math.max(0, Math.min(back, most)) });
  switch (key) {
    case 'k':
    case 'up':
      return to(state.back + 1);
    case 'j':
    case 'down':
      return to(state.back - 1);
    case 'pgup':
    case 'ctrl-u':
      return to(state.back + page);
    case 'pgdn':
    case 'ctrl-d':
      return to(state.back - page);
    case 'g':
    case 'home':
      return to(most);
    case 'G':
    case 'end':
      return to(0);
    default:
      return state;
  }
}
