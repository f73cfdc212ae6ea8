import { EventEmitter } from 'node:events';
import { render } from 'ink';
import type { ReactElement } from 'react';

export interface RenderedScreen {
  /** The newest frame, as the escape-coded rows that the painter gets. */
  frame(): string;
  /** The rows as a person reads them. */
  rows(): readonly string[];
  until(wanted: (rows: readonly string[]) => boolean): Promise<readonly string[]>;
  close(): void;
}

/** Renders an element at a fixed width as the screen does (whole frames), without a terminal. */
export function renderScreen(element: ReactElement, columns: number, rows: number): RenderedScreen {
  let frame = '';
  const stdout = Object.assign(new EventEmitter(), {
    columns,
    rows,
    write(chunk: string, done?: unknown) {
      if (chunk !== '') frame = chunk;
      if (typeof done === 'function') setImmediate(() => done());
      return true;
    },
  });
  const ink = render(element, {
    stdout: stdout as unknown as NodeJS.WriteStream,
    stdin: new EventEmitter() as unknown as NodeJS.ReadStream,
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false,
  });
  const plain = (): readonly string[] => frame.replace(/\u001b\[[0-9;]*m/g, '').split('\n');
  return {
    frame: () => frame,
    rows: plain,
    async until(wanted) {
      const deadline = performance.now() + 10_000;
      while (!wanted(plain())) {
        if (performance.now() > deadline) throw new Error(`no such frame:\n${plain().join('\n')}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return plain();
    },
    close: () => ink.unmount(),
  };
}
