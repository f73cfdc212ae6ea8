import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Header, type Pack, pack } from 'tar-stream';
import { AGENT_UID } from '../hardening.ts';

// Trusts: that the directory was made by us and nobody else writes to it. Follows no link all the same.

type Entry = Partial<Header> & Pick<Header, 'name'>;

/** Read whole and several at once; larger ones are streamed. */
const SMALL_BYTES = 256 * 1024;
const READ_AHEAD = 16;

/**
 * Tar stream of a directory's files, directories and links (as links), owned by the agent's user. `leaveOut` is a
 * directory whose place in the room is taken by a mount. Anything else than these three kinds destroys the stream.
 */
export function workspaceArchive(sourceDir: string, leaveOut: string | null): Readable {
  const archive = pack();
  void write(archive, sourceDir, leaveOut).then(
    () => archive.finalize(),
    (cause: unknown) => archive.destroy(cause instanceof Error ? cause : new Error(String(cause))),
  );
  return Readable.from(archive, { objectMode: false });
}

interface Found {
  readonly name: string;
  readonly file: string;
  readonly stats: Stats;
}

async function write(archive: Pack, sourceDir: string, leaveOut: string | null): Promise<void> {
  const queue: Array<{ found: Found; body: Promise<Buffer | string | null> }> = [];
  const flushOne = async () => {
    const next = queue.shift();
    if (next) await writeEntry(archive, next.found, await next.body);
  };
  for await (const found of walk(sourceDir, '', leaveOut)) {
    const body = readBody(found);
    body.catch(() => {}); // reported when its turn comes
    queue.push({ found, body });
    if (queue.length >= READ_AHEAD) await flushOne();
  }
  while (queue.length > 0) await flushOne();
}

async function* walk(root: string, relative: string, leaveOut: string | null): AsyncGenerator<Found> {
  const names = (await readdir(path.join(root, relative))).sort();
  const found = await Promise.all(
    names.map(async (name): Promise<Found> => {
      const at = relative === '' ? name : `${relative}/${name}`;
      const file = path.join(root, at);
      return { name: at, file, stats: await lstat(file) };
    }),
  );
  for (const entry of found) {
    if (entry.name === leaveOut || entry.name === '.git') continue;
    yield entry;
    if (entry.stats.isDirectory()) yield* walk(root, entry.name, leaveOut);
  }
}

/** Contents of a small file, target of a link, null for directories and for files that are streamed. */
async function readBody({ file, stats }: Found): Promise<Buffer | string | null> {
  if (stats.isSymbolicLink()) return readlink(file);
  if (!stats.isFile() || stats.size > SMALL_BYTES) return null;
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

async function writeEntry(archive: Pack, { name, file, stats }: Found, body: Buffer | string | null): Promise<void> {
  const owned: Entry = { name, uid: AGENT_UID, gid: AGENT_UID, mtime: stats.mtime };
  if (stats.isDirectory()) return whole(archive, { ...owned, type: 'directory', mode: 0o755 }, null);
  if (stats.isSymbolicLink()) {
    return whole(archive, { ...owned, type: 'symlink', mode: 0o777, linkname: String(body) }, null);
  }
  if (!stats.isFile()) throw new Error(`${name} is neither a file, a directory nor a link`);
  const header: Entry = { ...owned, type: 'file', mode: (stats.mode & 0o111) !== 0 ? 0o755 : 0o644 };
  if (Buffer.isBuffer(body)) return whole(archive, { ...header, size: body.length }, body);
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  await pipeline(handle.createReadStream(), archive.entry({ ...header, size: stats.size }));
}

function whole(archive: Pack, header: Entry, body: Buffer | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (cause?: Error | null) => (cause ? reject(cause) : resolve());
    if (body === null) archive.entry(header, done);
    else archive.entry(header, body, done);
  });
}
