/**
 * Writes below one directory that it makes itself, fresh and 0700, so that nothing in it was put there by anybody else:
 * no link can be met on the way. Trusts that paths went through the path function; trusts no size and no existing file.
 */
import { closeSync, constants, fchmodSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DirectoryPath, parentDirectories, type RepoPath } from '../../engine/domain/path.ts';
import { RefusedArchive } from './refused-archive.ts';

export type NextPiece = () => Promise<Uint8Array | null>;

export class RootedWriter {
  readonly #root: string;
  readonly #made = new Set<DirectoryPath>();
  #turnStartedMs = performance.now();

  private constructor(root: string) {
    this.#root = root;
  }

  /** Makes the root directory. One that is there already is never written into. */
  static async create(root: string): Promise<RootedWriter> {
    await mkdir(root, { mode: 0o700 }).catch((cause: unknown) => {
      throw translated(cause, 'target_exists');
    });
    return new RootedWriter(root);
  }

  async directory(directory: DirectoryPath): Promise<void> {
    await this.#shareTurn();
    this.#makeAll([...parentDirectories(directory), directory]);
  }

  /** Creates a file, 0644 or 0755, from the pieces that `nextPiece` hands out until null. */
  async file(file: RepoPath, executable: boolean, announcedBytes: number, nextPiece: NextPiece): Promise<void> {
    this.#makeAll(parentDirectories(file));
    const target = path.join(this.#root, file);
    const mode = executable ? 0o755 : 0o644;
    if (announcedBytes > SMALL_BYTES) return writeLarge(target, mode, nextPiece);
    const pieces: Uint8Array[] = [];
    for (let piece = await nextPiece(); piece !== null; piece = await nextPiece()) pieces.push(piece);
    await this.#shareTurn();
    writeSmall(target, mode, pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces));
  }

  /** Removes the root and everything that was written. */
  async discard(): Promise<void> {
    await rm(this.#root, { recursive: true, force: true, maxRetries: 3 });
  }

  #makeAll(directories: readonly DirectoryPath[]): void {
    for (const directory of directories) {
      if (this.#made.has(directory)) continue;
      try {
        mkdirSync(path.join(this.#root, directory), { mode: 0o755 });
      } catch (cause) {
        throw translated(cause);
      }
      this.#made.add(directory);
    }
  }

  /** The synchronous calls below are far cheaper than four trips to the thread pool a file, but others want their turn. */
  async #shareTurn(): Promise<void> {
    if (performance.now() - this.#turnStartedMs < TURN_MS) return;
    await nextTurn();
    this.#turnStartedMs = performance.now();
  }
}

const SMALL_BYTES = 64 * 1024;
const TURN_MS = 8;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

function writeSmall(target: string, mode: number, content: Uint8Array): void {
  try {
    const file = openSync(target, NEW_FILE, mode);
    try {
      for (let written = 0; written < content.length; ) written += writeSync(file, content, written);
      fchmodSync(file, mode);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    throw translated(cause);
  }
}

async function writeLarge(target: string, mode: number, nextPiece: NextPiece): Promise<void> {
  const file = await open(target, NEW_FILE, mode).catch((cause: unknown) => {
    throw translated(cause);
  });
  try {
    for (let piece = await nextPiece(); piece !== null; piece = await nextPiece()) await writeAll(file, piece);
    await file.chmod(mode);
  } catch (cause) {
    throw translated(cause);
  } finally {
    await file.close();
  }
}

async function writeAll(handle: FileHandle, piece: Uint8Array): Promise<void> {
  for (let written = 0; written < piece.length; ) {
    written += (await handle.write(piece, written, piece.length - written)).bytesWritten;
  }
}

/** Foreign errors become reasons here and nowhere else; anything that isn't an answer of the system is a bug and stays one. */
function translated(cause: unknown, ifExists = 'write_failed'): unknown {
  if (!(cause instanceof Error) || !('syscall' in cause) || !('code' in cause)) return cause;
  if (cause.code === 'ENAMETOOLONG') return new RefusedArchive('path_too_long', null, { cause });
  return new RefusedArchive(cause.code === 'EEXIST' ? ifExists : 'write_failed', null, { cause });
}
