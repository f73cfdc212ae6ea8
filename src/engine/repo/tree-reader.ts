/**
 * Reads trees and blobs through one `git cat-file --batch-command`. Trusts: git's object store. Does not trust: names in trees
 * (any bytes but `/` and NUL), sizes.
 */

import type { ObjectId } from '../domain/ids.ts';
import { strictUtf8 } from '../domain/path.ts';
import type { GitMode } from '../ports/private-repository.ts';
import { type GitCoprocess, GitError, type GitPlace, type GitRunner } from './git-runner.ts';
import { canonicalMode } from './raw-diff.ts';

interface TreeEntry {
  /** Name within its directory; null when it is not UTF-8. */
  readonly name: string | null;
  readonly mode: GitMode;
  readonly id: ObjectId;
}

export interface FoundEntry {
  readonly mode: GitMode;
  readonly id: ObjectId;
}

interface Answer {
  readonly type: string;
  readonly content: Buffer;
}

export class TreeReader {
  readonly #coprocess: GitCoprocess;
  readonly #pieces: AsyncIterator<Buffer>;
  readonly #args = ['cat-file', '--batch-command'];
  #buffer: Buffer = Buffer.alloc(0);
  readonly #trees = new Map<ObjectId, readonly TreeEntry[]>();

  constructor(runner: GitRunner, place: GitPlace, signal: AbortSignal) {
    this.#coprocess = runner.coprocess({ ...place, args: this.#args, signal });
    this.#pieces = this.#coprocess.stdout[Symbol.asyncIterator]();
  }

  close(): void {
    this.#coprocess.kill();
  }

  /** Entries of the named paths (slash-separated, as stored) in a tree; what isn't there is left out. */
  async lookup(tree: ObjectId, paths: Iterable<string>): Promise<Map<string, FoundEntry>> {
    const found = new Map<string, FoundEntry>();
    await this.#walk(tree, paths, (path, entry) => found.set(path, { mode: entry.mode, id: entry.id }));
    return found;
  }

  /**
   * Names of everything that lies in a directory which one of the paths passes through (the root included);
   * directories end in `/`. Enough to find every entry that one of the paths could collide with.
   */
  async surroundings(tree: ObjectId, paths: Iterable<string>): Promise<string[]> {
    const names: string[] = [];
    await this.#walk(tree, paths, undefined, (directory, entries) => {
      for (const entry of entries) {
        if (entry.name !== null) names.push(`${directory}${entry.name}${entry.mode === '040000' ? '/' : ''}`);
      }
    });
    return names;
  }

  /** Tree of a commit, or the tree itself; null when there is no such object. */
  async treeOf(treeish: ObjectId): Promise<ObjectId | null> {
    const [answer] = await this.#ask([treeish]);
    if (answer?.type === 'tree') return treeish;
    if (answer?.type !== 'commit') return null;
    return answer.content.toString('latin1', 'tree '.length, answer.content.indexOf(10)) as ObjectId;
  }

  /** Content of a blob or other object, or null when it is missing. The caller has checked its size. */
  async content(id: ObjectId): Promise<Buffer | null> {
    const [answer] = await this.#ask([id]);
    return answer === undefined || answer === null ? null : answer.content;
  }

  /** Sizes of objects in bytes, in order; null for a missing one. */
  async sizes(ids: readonly ObjectId[]): Promise<(number | null)[]> {
    const sizes: (number | null)[] = [];
    await this.#exchange('info', ids, async () => {
      const head = await this.#head();
      sizes.push(head === null ? null : head.size);
    });
    return sizes;
  }

  async #walk(
    tree: ObjectId,
    paths: Iterable<string>,
    onFound?: (path: string, entry: TreeEntry) => void,
    onDirectory?: (directory: string, entries: readonly TreeEntry[]) => void,
  ): Promise<void> {
    let level = [{ directory: '', id: tree, wanted: [...new Set(paths)] }];
    while (level.length > 0) {
      await this.#load(level.map(({ id }) => id));
      const next: typeof level = [];
      for (const { directory, id, wanted } of level) {
        const entries = this.#trees.get(id) ?? [];
        onDirectory?.(directory, entries);
        const below = groupByFirstPart(directory, wanted);
        for (const entry of entries) {
          const group = entry.name === null ? undefined : below.get(entry.name);
          if (group === undefined) continue;
          const here = `${directory}${entry.name}`;
          if (group.includes(here)) onFound?.(here, entry);
          const deeper = group.filter((path) => path !== here);
          if (deeper.length > 0 && entry.mode === '040000')
            next.push({ directory: `${here}/`, id: entry.id, wanted: deeper });
        }
      }
      level = next;
    }
  }

  async #load(ids: readonly ObjectId[]): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => !this.#trees.has(id));
    const answers = await this.#ask(missing);
    for (const [index, answer] of answers.entries()) {
      const id = missing[index];
      if (id === undefined) continue;
      if (answer === null || answer.type !== 'tree') throw new GitError(this.#args, `${id} is not a tree here`, false);
      this.#trees.set(id, parseTree(answer.content, id.length / 2));
    }
  }

  async #ask(ids: readonly ObjectId[]): Promise<(Answer | null)[]> {
    const answers: (Answer | null)[] = [];
    await this.#exchange('contents', ids, async () => {
      const head = await this.#head();
      if (head === null) answers.push(null);
      else {
        answers.push({ type: head.type, content: await this.#take(head.size) });
        await this.#take(1);
      }
    });
    return answers;
  }

  async #exchange(command: 'info' | 'contents', ids: readonly ObjectId[], answer: () => Promise<void>): Promise<void> {
    // In portions: git stops reading requests while nobody reads its answers.
    for (let from = 0; from < ids.length; from += REQUESTS) {
      const portion = ids.slice(from, from + REQUESTS);
      this.#coprocess.stdin.write(portion.map((id) => `${command} ${id}\n`).join(''));
      for (const _ of portion) await answer();
    }
  }

  async #head(): Promise<{ readonly type: string; readonly size: number } | null> {
    const line = (await this.#take(await this.#lineLength())).toString('latin1').trimEnd();
    const [, type, size] = line.split(' ');
    return type === undefined || size === undefined ? null : { type, size: Number(size) };
  }

  async #lineLength(): Promise<number> {
    for (;;) {
      const end = this.#buffer.indexOf(10);
      if (end >= 0) return end + 1;
      await this.#more();
    }
  }

  async #take(bytes: number): Promise<Buffer> {
    if (this.#buffer.length < bytes) {
      const pieces = [this.#buffer];
      let length = this.#buffer.length;
      while (length < bytes) {
        const piece = await this.#next();
        pieces.push(piece);
        length += piece.length;
      }
      this.#buffer = Buffer.concat(pieces);
    }
    const taken = this.#buffer.subarray(0, bytes);
    this.#buffer = this.#buffer.subarray(bytes);
    return taken;
  }

  async #more(): Promise<void> {
    this.#buffer = Buffer.concat([this.#buffer, await this.#next()]);
  }

  async #next(): Promise<Buffer> {
    const piece = await this.#pieces.next();
    if (!piece.done) return piece.value;
    throw new GitError(this.#args, (await this.#coprocess.ended) || 'git ended while it was asked', false);
  }
}

const REQUESTS = 200;

/** Runs `use` with a reader that is closed afterwards. */
export async function withTreeReader<T>(
  runner: GitRunner,
  place: GitPlace,
  signal: AbortSignal,
  use: (reader: TreeReader) => Promise<T>,
): Promise<T> {
  const reader = new TreeReader(runner, place, signal);
  try {
    return await use(reader);
  } finally {
    reader.close();
  }
}

function groupByFirstPart(directory: string, paths: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const path of paths) {
    const slash = path.indexOf('/', directory.length);
    const part = slash < 0 ? path.slice(directory.length) : path.slice(directory.length, slash);
    const group = groups.get(part);
    if (group === undefined) groups.set(part, [path]);
    else group.push(path);
  }
  return groups;
}

function parseTree(content: Buffer, idBytes: number): TreeEntry[] {
  const entries: TreeEntry[] = [];
  let position = 0;
  while (position < content.length) {
    const blank = content.indexOf(32, position);
    const end = content.indexOf(0, blank);
    entries.push({
      mode: canonicalMode(content.toString('latin1', position, blank)),
      name: strictUtf8(content.subarray(blank + 1, end)),
      id: content.toString('hex', end + 1, end + 1 + idBytes) as ObjectId,
    });
    position = end + 1 + idBytes;
  }
  return entries;
}
