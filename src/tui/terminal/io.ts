import type { Readable, Writable } from 'node:stream';

/** The process's edges, passed in so that tests can pass their own. */
export interface TuiIo {
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(on: boolean): unknown };
  readonly stdout: Writable & {
    readonly isTTY?: boolean;
    readonly columns?: number;
    readonly rows?: number;
    readonly fd?: number;
  };
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Fires when the process is asked to end. A reason that names SIGHUP drains; any other stops. */
  readonly signal: AbortSignal;
}
