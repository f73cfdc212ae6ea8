/**
 * Object directory of one change under construction. git writes new objects here and reads, besides, only what the named
 * stores offer; a refused change leaves nothing in the private repository.
 */
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { GitPlace } from './git-runner.ts';

export class Quarantine {
  readonly #objects: string;
  readonly #gitDir: string;

  constructor(directory: string, gitDir: string) {
    this.#objects = path.join(directory, 'objects');
    this.#gitDir = gitDir;
  }

  get place(): GitPlace {
    return { gitDir: this.#gitDir, env: { GIT_OBJECT_DIRECTORY: this.#objects } };
  }

  /** The same view with an index file of its own. */
  withIndex(indexFile: string): GitPlace {
    return { gitDir: this.#gitDir, env: { GIT_OBJECT_DIRECTORY: this.#objects, GIT_INDEX_FILE: indexFile } };
  }

  /** Offers exactly these object directories, besides what was written here. */
  async offer(objectDirectories: readonly string[]): Promise<void> {
    await mkdir(path.join(this.#objects, 'info'), { recursive: true, mode: 0o700 });
    await writeFile(
      path.join(this.#objects, 'info', 'alternates'),
      objectDirectories.map((each) => `${each}\n`).join(''),
    );
  }

  /** Moves what was written here into a store. Objects are named by content, so one that is there already is the same. */
  async adoptInto(objectDirectory: string): Promise<void> {
    for (const fanout of await readdir(this.#objects)) {
      if (!/^[0-9a-f]{2}$/.test(fanout)) continue;
      const from = path.join(this.#objects, fanout);
      const to = path.join(objectDirectory, fanout);
      await mkdir(to, { recursive: true, mode: 0o700 });
      const names = await readdir(from);
      await Promise.all(
        names.map((name) =>
          /^[0-9a-f]+$/.test(name) ? rename(path.join(from, name), path.join(to, name)) : rm(path.join(from, name)),
        ),
      );
    }
  }
}
