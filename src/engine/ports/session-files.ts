import type { Readable } from 'node:stream';

/** What was kept of one output stream. */
export interface StreamRecord {
  /** Bytes that the process wrote. */
  readonly totalBytes: number;
  readonly keptBytes: number;
  readonly truncated: boolean;
}

/** Files of sessions and test runs below the state directory, all private to the user. */
export interface SessionFiles {
  /** Fresh empty private directories for one owner (session or test run id); `workspace` and `source` don't overlap. */
  prepareRoot(
    ownerId: string,
  ): Promise<{ readonly root: string; readonly source: string; readonly exported: string; readonly sockets: string }>;
  /** Makes a laid-out tree readable for the room's user even where our umask is strict; its parent stays private. */
  makeReadable(directory: string): Promise<void>;
  /** Targets of the symbolic links at the given paths below a directory; links are read, never followed. */
  linkTargets(directory: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Removes the execution root; `keepExport` leaves what was exported, for inspection. */
  removeRoot(ownerId: string, options: { readonly keepExport: boolean }): Promise<void>;
  /** Owners whose root is there. */
  listRoots(): Promise<readonly string[]>;
  /** Reads the stream to its end, keeps the first `maxBytes` in a log file, and tells of every chunk that arrives. */
  keepStream(
    ownerId: string,
    name: 'stdout' | 'stderr' | 'output',
    stream: Readable,
    maxBytes: number,
    onChunk: () => void,
  ): Promise<StreamRecord>;
  /** Reads from a kept log; ends at a character boundary. Null when there is no such log. */
  readLog(
    ownerId: string,
    name: 'stdout' | 'stderr' | 'output',
    fromByte: number,
    maxBytes: number,
  ): Promise<{ readonly text: string; readonly nextByte: number; readonly size: number } | null>;
  writeNote(ownerId: string, name: string, value: unknown): Promise<void>;
  readNote(ownerId: string, name: string): Promise<unknown>;
  /** Keeps a raw archive whose export was refused, at most `maxBytes`. */
  keepArchive(ownerId: string, stream: Readable, maxBytes: number): Promise<void>;
}
