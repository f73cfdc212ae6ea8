import path from 'node:path';
import { deepestFirst, directoriesAbove } from '../../domain/change-order.ts';
import type { TransactionId } from '../../domain/ids.ts';
import { sameState } from '../../domain/recovery.ts';
import type { Fs, FsEntry } from '../../ports/fs.ts';
import type { TransactionDeps } from './deps.ts';
import type { JournalFiles } from './journal-text.ts';
import { observe } from './observe.ts';
import type { Workspace } from './workspace.ts';

/**
 * Step 9. Our files go; a backup that holds anything but the bytes of before or after was written to through an open
 * handle, is nobody else's copy, and is kept. Answers where.
 */
export async function dropWorkspace(
  deps: TransactionDeps,
  id: TransactionId,
  workspace: Workspace,
  files: JournalFiles | null,
  compared: ReadonlyMap<number, FsEntry> = new Map(),
): Promise<string[]> {
  const { fs } = deps;
  const kept: string[] = [];
  for (const directory of files === null ? [] : [workspace.backups, workspace.displaced]) {
    for (const name of (await fs.readdir(directory)) ?? []) {
      const position = Number.parseInt(name, 10);
      const entry = files?.paths[position];
      const file = path.join(directory, name);
      if (files === null || entry === undefined) continue;
      if (directory === workspace.backups && (await unchanged(fs, file, compared.get(position)))) continue;
      const state = await observe(fs, directory, name, false);
      const known = [entry.before, entry.after].some((own) => sameState(state, own, files.trustExecutable));
      if (!known) kept.push(await keep(fs, file, path.join(deps.keptDir, id), `${name}-${path.basename(entry.path)}`));
    }
  }
  await fs.removeTree(workspace.dir);
  for (const file of [workspace.index, `${workspace.index}.lock`])
    if ((await fs.lstat(file)) !== null) await fs.unlink(file);
  return kept;
}

async function unchanged(fs: Fs, file: string, seen: FsEntry | undefined): Promise<boolean> {
  if (seen === undefined) return false;
  const now = await fs.lstat(file);
  return now?.identity === seen.identity && now.modified === seen.modified && now.size === seen.size;
}

async function keep(fs: Fs, file: string, directory: string, name: string): Promise<string> {
  for (const above of [path.dirname(directory), directory])
    if ((await fs.lstat(above)) === null) await fs.mkdir(above, 0o700);
  const target = path.join(directory, name);
  if ((await fs.lstat(target)) !== null) return target;
  try {
    await fs.rename(file, target);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EXDEV') throw cause;
    await fs.copyFile(file, target);
  }
  await fs.syncDirectory(directory);
  return target;
}

/** Git leaves no empty directory behind where it removes files; neither do we. Done after the commit point only. */
export async function removeEmptiedDirectories(fs: Fs, root: string, files: JournalFiles): Promise<void> {
  const deleted = files.paths.filter((entry) => entry.result === null).flatMap((entry) => directoriesAbove(entry.path));
  for (const directory of [...new Set(deleted)].sort(deepestFirst)) {
    const absolute = path.join(root, directory);
    if ((await fs.lstat(absolute))?.kind !== 'directory' || (await fs.readdir(absolute))?.length !== 0) continue;
    try {
      await fs.rmdir(absolute);
    } catch (cause) {
      // Something was put there just now, or it is somebody's mount point: it stays.
      if (!['ENOTEMPTY', 'EEXIST', 'EBUSY', 'ENOENT'].includes((cause as NodeJS.ErrnoException).code ?? ''))
        throw cause;
    }
  }
}
