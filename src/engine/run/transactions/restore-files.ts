import path from 'node:path';
import { deepestFirst } from '../../domain/change-order.ts';
import { type PathState, restoreVerdict, sameState } from '../../domain/recovery.ts';
import type { Fs } from '../../ports/fs.ts';
import { backupOf, syncTouchedDirectories } from './change-files.ts';
import { concurrently, FILE_CONCURRENCY } from './concurrently.ts';
import type { JournalFiles, JournalPath } from './journal-text.ts';
import { directoryAsAbsent, observe } from './observe.ts';
import { orderOf } from './prepare-files.ts';
import type { Workspace } from './workspace.ts';

/**
 * Takes the file work back, path by path: only where the transaction's own bytes stand. May be stopped anywhere and begun
 * again. Answers the paths that hold something else and were left.
 */
export async function restoreFiles(
  fs: Fs,
  root: string,
  workspace: Workspace,
  files: JournalFiles,
  landed: (entry: JournalPath) => boolean,
): Promise<string[]> {
  const left: string[] = [];
  const restorable: { readonly position: number; readonly entry: JournalPath }[] = [];
  const states = await stateOfFiles(fs, root, files);
  for (const [position, entry] of files.paths.entries()) {
    const found = states[position] ?? { kind: 'other' };
    const verdict = restoreVerdict({ ...entry, found, landed: landed(entry), trustExecutable: files.trustExecutable });
    if (verdict === 'leave') left.push(entry.path);
    if (verdict === 'restore') restorable.push({ position, entry });
  }
  const restore = async (which: (entry: JournalPath) => boolean, work: typeof takeAway) => {
    for (const { position, entry } of restorable) {
      if (which(entry) && !(await work(fs, root, workspace, position, entry, files))) left.push(entry.path);
    }
  };

  await restore((entry) => entry.before.kind === 'absent', takeAway);
  for (const directory of [...files.createdDirectories].sort(deepestFirst))
    await removeIfEmpty(fs, path.join(root, directory));
  await recreateDirectories(
    fs,
    root,
    files,
    restorable.map(({ entry }) => entry.path),
  );
  await restore((entry) => entry.before.kind === 'file' && entry.after.kind === 'file', replace);
  await restore((entry) => entry.before.kind === 'file' && entry.after.kind === 'absent', bringBack);
  await syncTouchedDirectories(fs, root, files);
  return left;
}

/** Paths that are not as they were before; nothing is changed. */
export async function pathsNotAsBefore(fs: Fs, root: string, files: JournalFiles): Promise<string[]> {
  const states = await stateOfFiles(fs, root, files);
  return files.paths
    .filter((entry, position) => !sameState(states[position] ?? { kind: 'other' }, entry.before, files.trustExecutable))
    .map((entry) => entry.path);
}

function stateOfFiles(fs: Fs, root: string, files: JournalFiles): Promise<PathState[]> {
  const { exact } = orderOf(files.paths);
  const directories = new Set([
    ...files.createdDirectories,
    ...files.replacedDirectories.map((directory) => directory.path),
  ]);
  return concurrently(files.paths, FILE_CONCURRENCY, async (entry) =>
    directoryAsAbsent(await observe(fs, root, entry.path, exact.has(entry.path)), entry.path, directories),
  );
}

/** An added file: away from its place first, then compared again, and put back if it was edited in that moment. */
async function takeAway(
  fs: Fs,
  root: string,
  workspace: Workspace,
  position: number,
  entry: JournalPath,
  files: JournalFiles,
): Promise<boolean> {
  const target = path.join(root, entry.path);
  const displaced = await freeName(fs, workspace, position, entry, files);
  await fs.rename(target, displaced);
  if (await isState(fs, displaced, entry.after, files)) return true;
  await unlessInTheWay(() => fs.link(displaced, target));
  return false;
}

async function replace(
  fs: Fs,
  root: string,
  workspace: Workspace,
  position: number,
  entry: JournalPath,
  files: JournalFiles,
): Promise<boolean> {
  const target = path.join(root, entry.path);
  const backup = backupOf(workspace, position);
  if ((await fs.lstat(backup)) === null) return false;
  const displaced = await freeName(fs, workspace, position, entry, files);
  await fs.link(target, displaced);
  if (!(await isState(fs, displaced, entry.after, files))) return false;
  await fs.rename(backup, target);
  if (await isState(fs, displaced, entry.after, files)) return true;
  await fs.rename(displaced, target);
  return false;
}

async function bringBack(
  fs: Fs,
  root: string,
  workspace: Workspace,
  position: number,
  entry: JournalPath,
): Promise<boolean> {
  const backup = backupOf(workspace, position);
  if ((await fs.lstat(backup)) === null) return false;
  return unlessInTheWay(() => fs.link(backup, path.join(root, entry.path)));
}

/** Directories that a file took the place of, and those that became empty and were removed. */
async function recreateDirectories(
  fs: Fs,
  root: string,
  files: JournalFiles,
  restored: readonly string[],
): Promise<void> {
  for (const { path: directory, mode } of [...files.replacedDirectories].reverse()) {
    if (!restored.some((file) => file.startsWith(`${directory}/`))) continue;
    if ((await fs.lstat(path.join(root, directory))) !== null) continue;
    await unlessInTheWay(() => fs.mkdir(path.join(root, directory), mode));
  }
}

async function removeIfEmpty(fs: Fs, directory: string): Promise<void> {
  if ((await fs.readdir(directory))?.length !== 0) return;
  await unlessInTheWay(() => fs.rmdir(directory));
}

/** A name for what is taken away. One left by a recovery that was stopped is kept if it holds anything but our bytes. */
async function freeName(
  fs: Fs,
  workspace: Workspace,
  position: number,
  entry: JournalPath,
  files: JournalFiles,
): Promise<string> {
  const name = path.join(workspace.displaced, String(position));
  const earlier = await fs.lstat(name);
  if (earlier === null) return name;
  if (await isState(fs, name, entry.after, files)) await fs.unlink(name);
  else await fs.rename(name, `${name}.${earlier.modified}`);
  return name;
}

async function isState(fs: Fs, file: string, state: PathState, files: JournalFiles): Promise<boolean> {
  return sameState(await observe(fs, path.dirname(file), path.basename(file), false), state, files.trustExecutable);
}

/** False when something else came to stand there, or the directory went away. */
async function unlessInTheWay(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    if (['EEXIST', 'ENOTEMPTY', 'ENOENT', 'ENOTDIR', 'EISDIR'].includes(code)) return false;
    throw cause;
  }
}
