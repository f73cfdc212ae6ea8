import { createHash } from 'node:crypto';
import { constants, open } from 'node:fs/promises';
import path from 'node:path';
import type { ObjectId } from '../domain/ids.ts';

/** Git blob ids of files below `root`, in order, without storing anything. A link in the place of a file throws. */
export async function hashFiles(
  root: string,
  files: readonly string[],
  algorithm: 'sha1' | 'sha256',
  signal: AbortSignal,
): Promise<ObjectId[]> {
  const ids: ObjectId[] = new Array(files.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < files.length; index = next++) {
      signal.throwIfAborted();
      ids[index] = blobId(await readPlainFile(path.join(root, files[index] ?? '')), algorithm);
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, files.length) }, worker));
  return ids;
}

/** Id that these bytes have as a blob, in the object format of `like`. */
export function objectIdOf(content: Uint8Array, like: ObjectId): ObjectId {
  return blobId(content, like.length === 64 ? 'sha256' : 'sha1');
}

const CONCURRENCY = 16;

function blobId(content: Uint8Array, algorithm: 'sha1' | 'sha256'): ObjectId {
  return createHash(algorithm).update(`blob ${content.length}\0`).update(content).digest('hex') as ObjectId;
}

async function readPlainFile(file: string): Promise<Buffer> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}
