import path from 'node:path';
import { directoriesAbove } from '../../domain/change-order.ts';
import { sameState } from '../../domain/recovery.ts';
import type { Fs, FsEntry } from '../../ports/fs.ts';
import { concurrently, FILE_CONCURRENCY } from './concurrently.ts';
import type { JournalFiles } from './journal-text.ts';
import { observe } from './observe.ts';
import { orderOf } from './prepare-files.ts';
import type { Workspace } from './workspace.ts';

export interface ChangedFiles {
  /** Paths that the user changed meanwhile; nothing of his is lost, and the change must be taken back. */
  readonly raced: readonly string[];
  /** Each backup as it was when it was last compared, by position of its path. */
  readonly backups: ReadonlyMap<number, FsEntry>;
}

/**
 * Step 5. Backups are second names of the old files and are on the disk before any file is replaced; a new file never
 * replaces something that was not there when it was verified. It stops at the first sign that somebody else was here.
 */
export async function changeFiles(
  fs: Fs,
  root: string,
  workspace: Workspace,
  files: JournalFiles,
): Promise<ChangedFiles> {
  const order = orderOf(files.paths);
  const at = (position: number) => {
    const file = files.paths[position]?.path;
    if (file === undefined) throw new Error(`no path ${position} in the journal`);
    return {
      file,
      target: path.join(root, file),
      staged: path.join(workspace.staged, file),
      backup: backupOf(workspace, position),
    };
  };
  const raced: string[] = [];
  const attempt = async (file: string, codes: readonly string[], work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (cause) {
      if (!codes.includes((cause as NodeJS.ErrnoException).code ?? '')) throw cause;
      raced.push(file);
      return false;
    }
  };
  const remove = async (positions: readonly number[]) => {
    for (const position of positions) {
      const { file, target, backup } = at(position);
      if (!(await attempt(file, GONE, () => fs.rename(target, backup)))) return false;
    }
    return true;
  };

  const change = async (): Promise<boolean> => {
    for (const position of order.edits) {
      const { file, target, backup } = at(position);
      if (!(await attempt(file, GONE, () => fs.link(target, backup)))) return false;
    }
    await fs.syncDirectory(workspace.backups);
    if (!(await remove(order.firstDeletions))) return false;
    for (const { path: directory } of files.replacedDirectories)
      if (!(await attempt(directory, [...GONE, 'ENOTEMPTY', 'EEXIST'], () => fs.rmdir(path.join(root, directory)))))
        return false;
    for (const directory of files.createdDirectories) {
      if ((await fs.lstat(path.join(root, directory)))?.kind === 'directory') continue;
      if (!(await attempt(directory, ['EEXIST', ...GONE], () => fs.mkdir(path.join(root, directory))))) return false;
    }
    for (const position of order.edits) {
      const { file, target, staged, backup } = at(position);
      const [now, saved] = [await fs.lstat(target), await fs.lstat(backup)];
      // An editor that saves by renaming put another file here since the backup was made.
      if (now?.identity !== saved?.identity) raced.push(file);
      else await fs.rename(staged, target);
      if (raced.length > 0) return false;
    }
    for (const position of order.additions) {
      const { file, target, staged } = at(position);
      if (!(await attempt(file, ['EEXIST', ...GONE], () => fs.link(staged, target)))) return false;
    }
    return remove(order.lastDeletions);
  };
  const complete = await change();

  const backups = new Map<number, FsEntry>();
  if (complete) {
    const positions = [...order.edits, ...order.firstDeletions, ...order.lastDeletions];
    await concurrently(positions, FILE_CONCURRENCY, async (position) => {
      const entry = files.paths[position];
      const backup = backupOf(workspace, position);
      const saved = await fs.lstat(backup);
      if (entry === undefined || saved === null) throw new Error(`backup ${position} is missing`);
      backups.set(position, saved);
      const state = await observe(fs, workspace.backups, String(position), false);
      // Written through an open handle or before the rename: the bytes are the user's and go back with the backup.
      if (!sameState(state, entry.before, files.trustExecutable)) raced.push(entry.path);
    });
  }
  await syncTouchedDirectories(fs, root, files);
  await fs.syncDirectory(workspace.backups);
  return { raced, backups };
}

export function backupOf(workspace: Workspace, position: number): string {
  return path.join(workspace.backups, String(position));
}

/** Every directory in which a name came or went, as far as it (still) exists. */
export async function syncTouchedDirectories(fs: Fs, root: string, files: JournalFiles): Promise<void> {
  const directories = new Set<string>(['']);
  for (const { path: file } of files.paths) {
    const above = directoriesAbove(file);
    directories.add(above.at(-1) ?? '');
    // A directory that came or went is a name in the one above it.
    for (const directory of above)
      if (isTransient(files, directory)) directories.add(directoriesAbove(directory).at(-1) ?? '');
  }
  await concurrently([...directories], FILE_CONCURRENCY, async (directory) => {
    const absolute = path.join(root, directory);
    if ((await fs.lstat(absolute))?.kind === 'directory') await fs.syncDirectory(absolute);
  });
}

function isTransient(files: JournalFiles, directory: string): boolean {
  return (
    files.createdDirectories.includes(directory) || files.replacedDirectories.some((entry) => entry.path === directory)
  );
}

/** What the system says when a path is no longer what it was verified to be. */
const GONE = ['ENOENT', 'ENOTDIR', 'EISDIR'];
