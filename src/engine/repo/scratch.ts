/** Private working files. Everything lies below one directory, so that what a killed process left is found and removed. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

export class Scratch {
  readonly #root: string;

  /** `root` belongs to this class alone; it is made when it is first needed. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Empty directory that git uses as working directory and home. Nothing is ever written to it. */
  async emptyDir(): Promise<string> {
    const directory = path.join(this.#root, EMPTY);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return directory;
  }

  /** Runs `use` with a fresh directory (0700) and removes it afterwards, whatever happens. */
  async with<T>(purpose: string, use: (directory: string) => Promise<T>): Promise<T> {
    const directory = await this.make(purpose);
    try {
      return await use(directory);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  /** A fresh directory (0700) that the caller removes. */
  async make(purpose: string): Promise<string> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 });
    return mkdtemp(path.join(this.#root, `${purpose}-`));
  }

  /** Removes what earlier processes left behind. Only right while no other process works here. */
  async sweep(): Promise<void> {
    const names = await readdir(this.#root).catch((): string[] => []);
    for (const name of names)
      if (name !== EMPTY) await rm(path.join(this.#root, name), { recursive: true, force: true });
  }
}

const EMPTY = 'empty';
