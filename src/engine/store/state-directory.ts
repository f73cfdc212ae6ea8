import { chmodSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { err, ok, type Result } from '../domain/result.ts';

/** Where the state of one project lies; all absolute. Only `objects` is not created here: git makes it. */
export interface StateDirectory {
  readonly dir: string;
  readonly db: string;
  readonly lockDb: string;
  readonly objects: string;
  readonly secrets: string;
  readonly sessions: string;
  readonly logs: string;
  readonly temp: string;
}

export interface StateDirectoryError {
  readonly code: 'state_directory_failed';
  readonly message: string;
  readonly remedy: string;
}

/**
 * `<git common dir>/roundtable`, or `storage.dir` (a relative one counts from the directory that holds the common
 * directory, so that linked worktrees agree), created with mode 0700; a wider mode is narrowed, since secrets lie in it.
 */
export function openStateDirectory(options: {
  readonly gitCommonDir: string;
  readonly storageDir: string | null;
}): Result<StateDirectory, StateDirectoryError> {
  const paths = stateDirectoryPaths(options.gitCommonDir, options.storageDir);
  try {
    for (const directory of [paths.dir, paths.secrets, paths.sessions, paths.logs, paths.temp]) makePrivate(directory);
    return ok(paths);
  } catch (cause) {
    return err({
      code: 'state_directory_failed',
      message: `can't create the state directory ${paths.dir}: ${cause instanceof Error ? cause.message : String(cause)}`,
      remedy: 'make its parent writable, or set storage.dir to a directory of your own on a local disk',
    });
  }
}

function stateDirectoryPaths(gitCommonDir: string, storageDir: string | null): StateDirectory {
  const common = path.resolve(gitCommonDir);
  const dir = storageDir === null ? path.join(common, 'roundtable') : path.resolve(path.dirname(common), storageDir);
  return {
    dir,
    db: path.join(dir, 'roundtable.db'),
    lockDb: path.join(dir, 'lock.db'),
    objects: path.join(dir, 'objects.git'),
    secrets: path.join(dir, 'secrets'),
    sessions: path.join(dir, 'sessions'),
    logs: path.join(dir, 'logs'),
    temp: path.join(dir, 'temp'),
  };
}

function makePrivate(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if ((statSync(directory).mode & 0o077) !== 0) chmodSync(directory, 0o700);
}
