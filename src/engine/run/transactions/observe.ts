import path from 'node:path';
import { ABSENT, type PathState } from '../../domain/recovery.ts';
import type { Fs } from '../../ports/fs.ts';

/**
 * What stands at a path of the work tree. `exact`: on a file system that ignores case another spelling answers too, so
 * each part of the path is looked up in its directory's list.
 */
export async function observe(fs: Fs, root: string, file: string, exact: boolean): Promise<PathState> {
  const absolute = path.join(root, file);
  const entry = await fs.lstat(absolute);
  if (entry === null || (exact && !(await spelledSo(fs, root, file)))) return ABSENT;
  if (entry.kind === 'directory') return { kind: 'directory' };
  const sha256 = entry.kind === 'file' ? await fs.sha256(absolute) : null;
  if (sha256 === null) return { kind: 'other' };
  return { kind: 'file', sha256, executable: (entry.mode & 0o100) !== 0 };
}

async function spelledSo(fs: Fs, root: string, file: string): Promise<boolean> {
  let directory = root;
  for (const part of file.split('/')) {
    if (!(await fs.readdir(directory))?.includes(part)) return false;
    directory = path.join(directory, part);
  }
  return true;
}

/** A directory where the change itself puts or had one counts as "no file". */
export function directoryAsAbsent(found: PathState, file: string, directories: ReadonlySet<string>): PathState {
  return found.kind === 'directory' && directories.has(file) ? ABSENT : found;
}
