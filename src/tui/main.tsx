import type { Engine } from '../engine/api.ts';
import { App } from './app.tsx';
import { screenController } from './controller.ts';
import { screenStore } from './store.ts';
import { hostScreen } from './terminal/host-screen.ts';
import type { TuiIo } from './terminal/io.ts';
import { paletteFor } from './text/palette.ts';
import { listModels } from './views/list-model.ts';

export type { TuiIo } from './terminal/io.ts';

/**
 * The screen on this engine until the operator leaves or the process is asked to end. Closes the engine the way that was
 * chosen (`drain` waits for live sessions; another Ctrl-C meanwhile stops them) and answers the exit code: 0 after `q`,
 * 130 after Ctrl-C, 143 and 129 after SIGTERM and SIGHUP, 2 without a terminal. Never ends the process. Throws what a
 * component threw, after the terminal is given back.
 */
export async function runTui(engine: Engine, io: TuiIo): Promise<number> {
  if (io.stdin.isTTY !== true || io.stdout.isTTY !== true) {
    io.stderr.write('error: the screen needs a terminal; use run --headless in scripts\n');
    return 2;
  }
  const end = await hostScreen(io, (host) => {
    const store = screenStore({ columns: io.stdout.columns ?? 80, rows: io.stdout.rows ?? 24 }, Date.now());
    const models = listModels();
    const controller = screenController(engine, store, models, host, Date.now);
    return {
      element: <App store={store} models={models} palette={paletteFor(io.env)} />,
      onKeys: controller.keys,
      onResize: (columns, rows) => store.update((state) => ({ ...state, size: { columns, rows } })),
      close() {
        controller.close();
        store.close();
      },
    };
  });
  if (end.kind === 'crash') throw end.error;
  await closeEngine(engine, io, end.how);
  return end.code;
}

async function closeEngine(engine: Engine, io: TuiIo, how: 'drain' | 'stop'): Promise<void> {
  if (how === 'stop') return engine.close('stop');
  const stop = (): void => void engine.close('stop');
  process.on('SIGINT', stop);
  const note = setTimeout(() => {
    io.stderr.write('waiting for sessions to end; Ctrl-C stops them\n');
  }, 300);
  try {
    await engine.close('drain');
  } finally {
    clearTimeout(note);
    process.off('SIGINT', stop);
  }
}
