import { type IPty, spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';

export interface PtyOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly cols: number;
  readonly rows: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

export interface PtySession {
  readonly pid: number;
  /** What a person sees now: one string per row, without trailing spaces. */
  screen(): readonly string[];
  /** Everything the program wrote. */
  raw(): string;
  /** State of the emulated terminal, for what a program must give back. */
  modes(): { readonly alternate: boolean; readonly cursorHidden: boolean; readonly bracketedPaste: boolean };
  /** Resolves when the text is on the screen, or the function answers true; throws with the screen at the deadline. */
  waitFor(what: string | RegExp | ((screen: readonly string[]) => boolean), deadlineMs?: number): Promise<void>;
  press(keys: string): void;
  resize(cols: number, rows: number): Promise<void>;
  kill(signal: string): void;
  /** How the program ended; throws with the screen at the deadline. */
  exit(deadlineMs?: number): Promise<{ readonly exitCode: number; readonly signal: number }>;
  /** Ends it if it still runs. */
  close(): Promise<void>;
}

/** A program in a pseudo-terminal, with a terminal emulator that reads back what it draws. */
export function startInPty(options: PtyOptions): PtySession {
  const terminal = new xterm.Terminal({
    cols: options.cols,
    rows: options.rows,
    allowProposedApi: true,
    scrollback: 0,
  });
  const env: Record<string, string> = {};
  // CI would make Ink draw nothing; the rest of the environment is the test's.
  for (const [name, value] of Object.entries({ ...process.env, CI: 'false', TERM: 'xterm-256color', ...options.env })) {
    if (value !== undefined) env[name] = value;
  }
  const pty: IPty = spawn(options.file, [...options.args], {
    cols: options.cols,
    rows: options.rows,
    env,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  let raw = '';
  let hidden = false;
  /** Inside synchronized output: a terminal shows none of it before its end, so nobody may look yet. */
  let midFrame = false;
  let ended: { readonly exitCode: number; readonly signal: number } | null = null;
  const changed = new Set<() => void>();
  const tell = (): void => {
    for (const listener of changed) listener();
  };
  let parsed = 0;
  /** Whether the last setting of a private mode, of what the emulator has read, was this one. */
  const lastMode = (mode: string, state: 'h' | 'l'): boolean => {
    const at = raw.lastIndexOf(`\u001b[${mode}`, parsed - mode.length - 3);
    return at >= 0 && raw[at + mode.length + 2] === state;
  };
  pty.onData((data) => {
    raw += data;
    terminal.write(data, () => {
      parsed += data.length;
      hidden = lastMode('?25', 'l');
      midFrame = lastMode('?2026', 'h');
      tell();
    });
  });
  pty.onExit(({ exitCode, signal }) => {
    ended = { exitCode, signal: signal ?? 0 };
    terminal.write('', tell);
  });

  const screen = (): readonly string[] => {
    // A line of the alternate screen keeps its cells when the terminal gets narrower; nobody sees them.
    const buffer = terminal.buffer.active;
    return Array.from(
      { length: terminal.rows },
      (_, row) =>
        buffer
          .getLine(buffer.viewportY + row)
          ?.translateToString(true, 0, terminal.cols)
          .trimEnd() ?? '',
    );
  };

  async function until(done: () => boolean, deadlineMs: number, what: string): Promise<void> {
    const settled = (): boolean => (!midFrame || ended !== null) && done();
    if (settled()) return;
    await new Promise<void>((resolve, reject) => {
      const check = (): void => {
        if (!settled()) return;
        clearTimeout(timer);
        changed.delete(check);
        resolve();
      };
      const timer = setTimeout(() => {
        changed.delete(check);
        reject(new Error(`no ${what} within ${deadlineMs} ms; the screen:\n${screen().join('\n')}`));
      }, deadlineMs);
      changed.add(check);
    });
  }

  return {
    pid: pty.pid,
    screen,
    raw: () => raw,
    modes: () => ({
      alternate: terminal.buffer.active.type === 'alternate',
      cursorHidden: hidden,
      bracketedPaste: terminal.modes.bracketedPasteMode,
    }),
    waitFor: (what, deadlineMs = 15_000) =>
      until(
        () =>
          typeof what === 'function'
            ? what(screen())
            : typeof what === 'string'
              ? screen().some((row) => row.includes(what))
              : what.test(screen().join('\n')),
        deadlineMs,
        typeof what === 'function' ? 'such screen' : `“${String(what)}”`,
      ),
    press: (keys) => pty.write(keys),
    async resize(cols, rows) {
      pty.resize(cols, rows);
      terminal.resize(cols, rows);
      await Promise.resolve();
    },
    kill: (signal) => process.kill(pty.pid, signal),
    async exit(deadlineMs = 15_000) {
      await until(() => ended !== null, deadlineMs, 'end of the program');
      if (ended === null) throw new Error('unreachable: the wait ended');
      return ended;
    },
    async close() {
      if (ended === null) {
        try {
          process.kill(pty.pid, 'SIGKILL');
        } catch {
          // It ended between the look and the signal.
        }
        await until(() => ended !== null, 5_000, 'end of the killed program');
      }
      terminal.dispose();
    },
  };
}
