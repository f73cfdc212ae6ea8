import { screenController } from '../../src/tui/controller.ts';
import type { ScreenState } from '../../src/tui/state/screen-state.ts';
import { type ScreenStore, screenStore } from '../../src/tui/store.ts';
import { keyDecoder } from '../../src/tui/terminal/decode-keys.ts';
import { type ListModels, listModels } from '../../src/tui/views/list-model.ts';
import { FakeEngine } from './fake-engine.ts';

export interface ScreenDriver {
  readonly engine: FakeEngine;
  readonly store: ScreenStore;
  readonly models: ListModels;
  readonly exits: { readonly how: 'drain' | 'stop'; readonly code: number }[];
  readonly suspended: () => number;
  state(): ScreenState;
  press(text: string): void;
  /** Waits until the state is as wanted; throws at the deadline. */
  until(wanted: (state: ScreenState) => boolean, what?: string): Promise<ScreenState>;
  close(): void;
}

/** The screen without a terminal: controller, store and an engine in memory, driven by the bytes of a keyboard. */
export async function driveScreen(engine = new FakeEngine(), size = { columns: 120, rows: 30 }): Promise<ScreenDriver> {
  const store = screenStore(size, Date.parse('2026-03-04T12:05:00.000Z'));
  const models = listModels();
  const exits: { readonly how: 'drain' | 'stop'; readonly code: number }[] = [];
  let suspended = 0;
  const host = {
    exit: (how: 'drain' | 'stop', code: number) => void exits.push({ how, code }),
    suspend: () => {
      suspended++;
    },
    redraw: () => undefined,
  };
  const controller = screenController(engine, store, models, host, () => Date.parse('2026-03-04T12:05:00.000Z'));
  const decoder = keyDecoder();
  const driver: ScreenDriver = {
    engine,
    store,
    models,
    exits,
    suspended: () => suspended,
    state: () => store.getSnapshot(),
    press(text) {
      controller.keys(decoder.push(text));
      controller.keys(decoder.flush());
    },
    async until(wanted, what = 'such state') {
      const deadline = performance.now() + 10_000;
      while (!wanted(store.getSnapshot())) {
        if (performance.now() > deadline) {
          const { ui } = store.getSnapshot();
          throw new Error(`no ${what}; notice ${JSON.stringify(ui.notice)}, dialog ${JSON.stringify(ui.dialog?.kind)}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return store.getSnapshot();
    },
    close() {
      controller.close();
      store.close();
    },
  };
  await driver.until((state) => state.data.snapshot !== null, 'snapshot');
  return driver;
}
