import type { Readable, Writable } from 'node:stream';
import type { Application } from '../../src/engine/api.ts';

/** Options that every command has. */
export interface GlobalOptions {
  readonly root: string | null;
  readonly json: boolean;
  readonly quiet: boolean;
  /** False for --no-color, NO_COLOR, TERM=dumb, or an output that is no terminal. */
  readonly color: boolean;
}

/** What a command gets from the composition root: the process's edges, so that tests can pass their own. */
export interface CommandContext {
  readonly app: Application;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  /** Fires on SIGINT, SIGTERM and SIGHUP; `exitCode` is 130 or 143 then. */
  readonly interrupt: AbortSignal;
  readonly version: string;
  /** Directory with the sample repository of the demo. */
  readonly demoTemplate: string;
}

/** A command answers its exit code; only the entry file ends the process. */
export type CommandResult = number;
