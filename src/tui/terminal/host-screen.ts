import { render } from 'ink';
import type { ReactElement } from 'react';
import type { Key } from './decode-keys.ts';
import { FramePainter } from './frame-painter.ts';
import type { TuiIo } from './io.ts';
import { keyboard } from './keyboard.ts';
import { screenMode } from './screen-mode.ts';

/** How a screen ended: with a key, by a signal of the process, or because a component threw. */
export type ScreenEnd =
  | { readonly kind: 'exit'; readonly how: 'drain' | 'stop'; readonly code: number }
  | { readonly kind: 'crash'; readonly error: unknown };

export interface ScreenHost {
  exit(how: 'drain' | 'stop', code: number): void;
  /** Gives the terminal back to the shell until the process is continued. */
  suspend(): void;
  redraw(): void;
}

export interface ScreenParts {
  readonly element: ReactElement;
  readonly onKeys: (keys: readonly Key[]) => void;
  readonly onResize: (columns: number, rows: number) => void;
  readonly close: () => void;
}

/** By these the process is asked to end. A hangup drains: the sessions need no terminal. */
const SIGNALS = { SIGINT: ['stop', 130], SIGTERM: ['stop', 143], SIGHUP: ['drain', 129] } as const;

/**
 * Runs one Ink screen in the terminal until it ends, and gives the terminal back on every way out: exit, signal, a
 * component that throws, an uncaught exception. It never ends the process.
 */
export async function hostScreen(io: TuiIo, make: (host: ScreenHost) => ScreenParts): Promise<ScreenEnd> {
  const size = () => ({ columns: io.stdout.columns ?? 80, rows: io.stdout.rows ?? 24 });
  const painter = new FramePainter(io.stdout, size().columns, size().rows);
  const mode = screenMode(io);
  let finish: (end: ScreenEnd) => void = () => undefined;
  const ended = new Promise<ScreenEnd>((resolve) => {
    finish = resolve;
  });
  const host: ScreenHost = {
    exit: (how, code) => finish({ kind: 'exit', how, code }),
    redraw: () => painter.invalidate(),
    suspend() {
      mode.leave();
      process.once('SIGCONT', () => {
        mode.enter();
        resized();
      });
      process.kill(process.pid, 'SIGTSTP');
    },
  };
  const parts = make(host);

  function resized(): void {
    const { columns, rows } = size();
    parts.onResize(columns, rows);
    painter.resize(columns, rows);
  }
  const onSignal = Object.entries(SIGNALS).map(([name, [how, code]]) => [name, () => host.exit(how, code)] as const);
  const onAbort = (): void => {
    const reason = String(io.signal.reason);
    if (reason.includes('SIGHUP')) host.exit('drain', 129);
    else host.exit('stop', reason.includes('SIGINT') ? 130 : 143);
  };
  // Runs before Node prints the error, so that it is printed on the normal screen.
  const onCrash = (): void => {
    painter.close();
    mode.leave();
  };
  // A terminal that went away answers EIO; that must not become an uncaught exception.
  const onStreamError = (): void => undefined;

  io.stdout.on('error', onStreamError);
  io.stdin.on('error', onStreamError);
  io.stdout.on('resize', resized);
  process.on('uncaughtExceptionMonitor', onCrash);
  process.on('exit', onCrash);
  for (const [name, handler] of onSignal) process.on(name, handler);
  io.signal.addEventListener('abort', onAbort);
  mode.enter();
  const keys = keyboard(io.stdin, parts.onKeys);
  const ink = render(parts.element, {
    // The painter and the terminal's edges stand in for Node's classes, of which Ink uses these members only.
    stdout: painter as unknown as NodeJS.WriteStream,
    stdin: io.stdin as unknown as NodeJS.ReadStream,
    stderr: io.stderr as unknown as NodeJS.WriteStream,
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false,
  });
  void ink.waitUntilExit().catch((error: unknown) => finish({ kind: 'crash', error }));
  if (io.signal.aborted) onAbort();

  const end = await ended;
  painter.close();
  keys.close();
  parts.close();
  ink.unmount();
  mode.leave();
  io.stdout.off('resize', resized);
  io.stdin.off('error', onStreamError);
  process.off('uncaughtExceptionMonitor', onCrash);
  process.off('exit', onCrash);
  for (const [name, handler] of onSignal) process.off(name, handler);
  io.signal.removeEventListener('abort', onAbort);
  // The error listener of stdout stays: writes that are still under way may fail after a hangup.
  return end;
}
