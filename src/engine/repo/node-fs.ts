/**
 * The file system of the machine. Trusts: the kernel's answers. Does not trust: that a path is still what an earlier call
 * said; links in the last position are never followed, and nothing is replaced except by `rename`.
 */
import { createHash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Fs, FsEntry } from '../ports/fs.ts';

export function createNodeFs(): Fs {
  return {
    lstat: (file) => orNull(async () => entryOf(await fs.lstat(file, { bigint: true }))),
    readdir: (directory) => orNull(() => fs.readdir(directory)),
    sha256: (file) => orNull(() => hashRegularFile(file)),
    readFile: (file) => orNull(() => fs.readFile(file)),
    processIdentity,
    processRuns,

    async mkdir(directory, mode) {
      await fs.mkdir(directory);
      if (mode !== undefined) await fs.chmod(directory, mode);
    },
    rmdir: (directory) => fs.rmdir(directory),
    link: (existing, created) => fs.link(existing, created),
    rename: (from, to) => fs.rename(from, to),
    unlink: (file) => fs.unlink(file),
    async copyFile(from, to) {
      await fs.copyFile(from, to, constants.COPYFILE_EXCL);
      await sync(to);
    },
    writeFile: (file, text) => fs.writeFile(file, text),
    removeTree: (directory) => fs.rm(directory, { recursive: true, force: true, maxRetries: 3 }),
    syncFile: sync,
    syncDirectory: sync,
  };
}

async function hashRegularFile(file: string): Promise<string | null> {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const handle = await fs.open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = await handle.stat();
    if (!(await handle.stat()).isFile()) return null;
    const hash = createHash('sha256');
    const chunk = Buffer.allocUnsafe(Math.min(1 << 18, size + 1));
    for (;;) {
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, null);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(chunk.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}

async function sync(file: string): Promise<void> {
  const handle = await fs.open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function entryOf(stats: BigIntStats): FsEntry {
  return {
    kind: kindOf(stats),
    mode: Number(stats.mode & 0o7777n),
    size: Number(stats.size),
    identity: `${stats.dev}:${stats.ino}`,
    device: String(stats.dev),
    modified: stats.mtimeNs,
  };
}

function kindOf(stats: BigIntStats): FsEntry['kind'] {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  return stats.isSymbolicLink() ? 'symlink' : 'other';
}

/** ELOOP is what O_NOFOLLOW says of a link. */
const ABSENCE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO']);

async function orNull<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (cause) {
    if (ABSENCE.has((cause as NodeJS.ErrnoException).code ?? '')) return null;
    throw cause;
  }
}

async function processIdentity(pid: number): Promise<string> {
  return `${await bootId()}/${pid}/${(await startTime(pid)) ?? 'ended'}`;
}

async function processRuns(identity: string): Promise<boolean> {
  const [boot, pid, start] = identity.split('/');
  if (boot === undefined || pid === undefined || start === undefined || boot !== (await bootId())) return false;
  return (await startTime(Number(pid))) === start;
}

/** Differs after every start of the machine; where there is no such file, processes are told apart by start time alone. */
async function bootId(): Promise<string> {
  return (await orNull(() => fs.readFile('/proc/sys/kernel/random/boot_id', 'utf8')))?.trim() ?? 'unknown';
}

/** Clock ticks since boot at which the process started; null when it has ended or is only waiting to be reaped. */
async function startTime(pid: number): Promise<string | null> {
  const stat = await orNull(() => fs.readFile(path.join('/proc', String(pid), 'stat'), 'utf8'));
  if (stat !== null) {
    // The name in parentheses may hold blanks and parentheses itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
  }
  if (await orNull(() => fs.readdir('/proc/self'))) return null;
  try {
    process.kill(pid, 0);
    return 'running';
  } catch {
    return null;
  }
}
