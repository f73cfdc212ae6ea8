import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Header, type Pack, pack } from 'tar-stream';
import type { ImageEntry } from './image-entry.ts';

type HeaderArgument = Partial<Header> & Pick<Header, 'name'>;

/** Tar stream of a layer. Times and owners are fixed: equal pieces make equal bytes. Read errors destroy the stream. */
export function layerStream(entries: readonly ImageEntry[]): Readable {
  const archive = pack();
  void write(archive, entries).then(
    () => archive.finalize(),
    (cause: unknown) => archive.destroy(cause instanceof Error ? cause : new Error(String(cause))),
  );
  return Readable.from(archive, { objectMode: false });
}

async function write(archive: Pack, entries: readonly ImageEntry[]): Promise<void> {
  for (const entry of entries) {
    const header: HeaderArgument = { name: entry.path.slice(1), uid: 0, gid: 0, mtime: new Date(0) };
    switch (entry.kind) {
      case 'directory':
        header.uid = entry.owner ?? 0;
        header.gid = entry.owner ?? 0;
        await whole(archive, { ...header, type: 'directory', mode: entry.mode }, null);
        break;
      case 'link':
        await whole(archive, { ...header, type: 'symlink', mode: 0o777, linkname: entry.target }, null);
        break;
      case 'text':
        await whole(archive, { ...header, type: 'file', mode: entry.executable ? 0o755 : 0o644 }, entry.text);
        break;
      case 'copy': {
        const { size } = await stat(entry.hostPath);
        const sink = archive.entry({ ...header, type: 'file', mode: entry.executable ? 0o755 : 0o644, size });
        await pipeline(createReadStream(entry.hostPath), sink);
        break;
      }
    }
  }
}

function whole(archive: Pack, header: HeaderArgument, text: string | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (cause?: Error | null) => (cause ? reject(cause) : resolve());
    if (text === null) archive.entry(header, done);
    else archive.entry(header, text, done);
  });
}
