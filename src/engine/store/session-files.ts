/**
 * Execution roots, logs and notes of sessions and test runs, below the state directory. Trusts: the state directory is
 * private to the user (0700). Does not trust: owner ids in file names (checked), the amount or content of output, links.
 */
import { createWriteStream } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { SessionFiles, StreamRecord } from '../ports/session-files.ts';

export interface SessionFilesOptions {
  readonly sessionsDir: string;
  readonly logsDir: string;
  /** Short private directory for sockets: their paths are bounded to 100 bytes. */
  readonly socketsDir: string;
}

export function createSessionFiles(options: SessionFilesOptions): SessionFiles {
  const rootOf = (owner: string): string => path.join(options.sessionsDir, checked(owner));
  const logOf = (owner: string, name: string): string => path.join(options.logsDir, `${checked(owner)}.${name}.log`);
  const noteOf = (owner: string, name: string): string =>
    path.join(options.logsDir, `${checked(owner)}.${checked(name)}.json`);

  return {
    async prepareRoot(owner) {
      const root = rootOf(owner);
      await rm(root, { recursive: true, force: true });
      const source = path.join(root, 'source');
      const exported = path.join(root, 'exported');
      const sockets = path.join(options.socketsDir, checked(owner));
      await rm(sockets, { recursive: true, force: true });
      await mkdir(root, { recursive: true, mode: 0o700 });
      await mkdir(source, { mode: 0o755 });
      await chmod(source, 0o755);
      // The room's user must be able to pass through to the socket; the parent is 0700.
      await mkdir(sockets, { recursive: true, mode: 0o711 });
      await chmod(sockets, 0o711);
      return { root, source, exported, sockets };
    },
    async makeReadable(directory) {
      if ((process.umask() & 0o055) !== 0) await widen(directory);
    },
    async linkTargets(directory, paths) {
      const targets = new Map<string, string>();
      for (const link of paths) targets.set(link, await readlink(path.join(directory, link)));
      return targets;
    },
    async removeRoot(owner, { keepExport }) {
      await rm(path.join(options.socketsDir, checked(owner)), { recursive: true, force: true });
      const archive = path.join(rootOf(owner), ARCHIVE);
      if (keepExport && (await exists(archive)))
        await rename(archive, path.join(options.logsDir, `${checked(owner)}.workspace.tar`));
      await rm(rootOf(owner), { recursive: true, force: true });
    },
    async listRoots() {
      const names = await readdir(options.sessionsDir).catch(() => []);
      return names.filter((name) => SAFE.test(name));
    },
    async keepStream(owner, name, stream, maxBytes, onChunk) {
      await mkdir(options.logsDir, { recursive: true, mode: 0o700 });
      return keep(stream, logOf(owner, name), maxBytes, onChunk);
    },
    async readLog(owner, name, fromByte, maxBytes) {
      return readPart(logOf(owner, name), fromByte, maxBytes);
    },
    async writeNote(owner, name, value) {
      const file = noteOf(owner, name);
      await mkdir(options.logsDir, { recursive: true, mode: 0o700 });
      await writeFile(`${file}.new`, JSON.stringify(value), { mode: 0o600 });
      await rename(`${file}.new`, file);
    },
    async readNote(owner, name) {
      try {
        return JSON.parse(await readFile(noteOf(owner, name), 'utf8')) as unknown;
      } catch {
        return null;
      }
    },
    async keepArchive(owner, stream, maxBytes) {
      await mkdir(rootOf(owner), { recursive: true, mode: 0o700 });
      await keep(stream, path.join(rootOf(owner), ARCHIVE), maxBytes, () => undefined);
    },
  };
}

const ARCHIVE = 'workspace.tar';
const SAFE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,100}$/;

function checked(name: string): string {
  if (!SAFE.test(name)) throw new Error(`${JSON.stringify(name)} is no name for a file of a session`);
  return name;
}

/** Writes the first bytes and counts the rest; back-pressure of the disk holds the process back, not our memory. */
async function keep(stream: Readable, file: string, maxBytes: number, onChunk: () => void): Promise<StreamRecord> {
  const out = createWriteStream(file, { mode: 0o600 });
  let failure: unknown = null;
  out.on('error', (cause) => {
    failure = cause;
  });
  let totalBytes = 0;
  let keptBytes = 0;
  try {
    for await (const piece of stream) {
      const chunk = piece as Buffer;
      totalBytes += chunk.length;
      onChunk();
      const room = maxBytes - keptBytes;
      if (room <= 0 || failure !== null) continue;
      const part = chunk.length > room ? chunk.subarray(0, room) : chunk;
      keptBytes += part.length;
      if (!out.write(part))
        await new Promise<void>((resolve) => out.once('drain', resolve).once('error', () => resolve()));
    }
  } catch {
    // The stream broke off with its container; what arrived is kept, and the end of the process tells the rest.
  }
  out.end();
  await finished(out).catch(() => undefined);
  return { totalBytes, keptBytes, truncated: keptBytes < totalBytes || failure !== null };
}

async function readPart(
  file: string,
  fromByte: number,
  maxBytes: number,
): Promise<{ readonly text: string; readonly nextByte: number; readonly size: number } | null> {
  const handle = await open(file, 'r').catch(() => null);
  if (!handle) return null;
  try {
    const { size } = await handle.stat();
    const length = Math.max(0, Math.min(maxBytes, size - fromByte));
    const buffer = Buffer.alloc(length);
    const { bytesRead } = await handle.read(buffer, 0, length, fromByte);
    const atEnd = fromByte + bytesRead >= size;
    const whole = atEnd ? bytesRead : characterBoundary(buffer.subarray(0, bytesRead));
    return { text: buffer.subarray(0, whole).toString('utf8'), nextByte: fromByte + whole, size };
  } finally {
    await handle.close();
  }
}

/** Length without a UTF-8 sequence that is cut at the end. */
function characterBoundary(buffer: Buffer): number {
  for (let back = 1; back <= Math.min(4, buffer.length); back += 1) {
    const byte = buffer[buffer.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needs > back ? buffer.length - back : buffer.length;
  }
  return buffer.length;
}

async function widen(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const at = path.join(directory, entry.name);
    if (entry.isDirectory()) {
      await chmod(at, 0o755);
      await widen(at);
    } else if (entry.isFile()) {
      const { mode } = await stat(at);
      await chmod(at, (mode & 0o100) === 0 ? 0o644 : 0o755);
    }
  }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
