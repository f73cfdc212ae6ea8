/** The placing file system on node:fs. Trusts the local file system; follows no link. */
import { constants, promises as fs } from 'node:fs';
import type { PlacingFs } from './place-files.ts';

export const nodePlacingFs: PlacingFs = {
  mkdtemp: (prefix) => fs.mkdtemp(prefix),
  mkdir: (directory) => fs.mkdir(directory),
  rmdir: (directory) => fs.rmdir(directory),
  unlink: (file) => fs.unlink(file),
  rename: (from, to) => fs.rename(from, to),
  removeTree: (directory) => fs.rm(directory, { recursive: true, force: true }),
  async writeNew(file, text) {
    const handle = await fs.open(file, 'wx', 0o644);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
  async link(existing, created) {
    try {
      await fs.link(existing, created);
    } catch (cause) {
      if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(cause))) throw cause;
      // File systems without hard links: a copy that refuses to replace gives the same promise.
      await fs.copyFile(existing, created, constants.COPYFILE_EXCL);
    }
  },
  async identify(file) {
    try {
      const stat = await fs.lstat(file, { bigint: true });
      const kind = stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : 'other';
      return { kind, identity: `${stat.dev}:${stat.ino}` };
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return null;
      throw cause;
    }
  },
};

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
}
