/**
 * Ignore rules of a tree, answered by git itself: `check-ignore` over a work tree that holds only the tree's `.gitignore`
 * files. Trusts: git's rules. Does not trust: the names it is asked about (raw names of an archive).
 */
import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { ObjectId } from '../domain/ids.ts';
import { normalizePath } from '../domain/path.ts';
import type { SeededEntry } from '../ports/private-repository.ts';
import { type GitCoprocess, GitError, type GitPlace, type GitRunner } from './git-runner.ts';
import { writeEntries } from './provision.ts';
import { parseTreeListing, SINGLE_TREE_BYTES } from './tree-listing.ts';

/** Makes a matcher. `directory` is a fresh private one, which `close` removes. */
export async function openIgnoreMatcher(
  runner: GitRunner,
  place: GitPlace,
  directory: string,
  tree: ObjectId,
  signal: AbortSignal,
): Promise<IgnoreMatcher> {
  const workTree = path.join(directory, 'tree');
  await mkdir(workTree, { mode: 0o700 });
  const args = ['ls-tree', '-r', '-z', tree];
  const listing = await runner.must({ ...place, args, signal, maxBytes: SINGLE_TREE_BYTES });
  const rules: SeededEntry[] = [];
  const tracked = new Set<string>();
  for (const { path: where, mode, id } of parseTreeListing(listing)) {
    if (where === null) continue;
    for (const name of [where, ...parentsOf(where)]) tracked.add(name.normalize('NFC'));
    // git does not follow a `.gitignore` that is a link.
    const isRules = path.posix.basename(where) === '.gitignore' && (mode === '100644' || mode === '100755');
    if (isRules && normalizePath('file', where).ok) rules.push({ path: where, mode, id });
  }
  await writeEntries({ runner, place, directory, entries: rules, targetDir: workTree, signal });
  const env = {
    ...place.env,
    GIT_WORK_TREE: workTree,
    GIT_INDEX_FILE: path.join(directory, 'no.index'),
    GIT_LITERAL_PATHSPECS: '0',
  };
  const asking = ['check-ignore', '--no-index', '--stdin', '-z', '--verbose', '--non-matching'];
  const coprocess = runner.coprocess({ gitDir: place.gitDir, env, args: asking, signal });
  return new IgnoreMatcher(coprocess, directory, workTree, tracked);
}

class IgnoreMatcher {
  readonly #coprocess: GitCoprocess;
  readonly #directory: string;
  readonly #workTree: string;
  readonly #tracked: ReadonlySet<string>;
  readonly #ignoredDirectories = new Set<string>();
  readonly #pieces: AsyncIterator<Buffer>;
  #buffer: Buffer = Buffer.alloc(0);
  #queue: Promise<unknown> = Promise.resolve();

  constructor(coprocess: GitCoprocess, directory: string, workTree: string, tracked: ReadonlySet<string>) {
    this.#coprocess = coprocess;
    this.#directory = directory;
    this.#workTree = workTree;
    this.#tracked = tracked;
    this.#pieces = coprocess.stdout[Symbol.asyncIterator]();
  }

  /**
   * True for what `git status` would call ignored in a checkout of the tree: what the tree tracks never is, nor a directory
   * with something tracked in it. False for names that could not be in a repository.
   */
  isIgnored(name: string, isDirectory: boolean): Promise<boolean> {
    if (!askable(name) || this.#tracked.has(name.normalize('NFC'))) return Promise.resolve(false);
    if (parentsOf(name).some((parent) => this.#ignoredDirectories.has(parent))) return Promise.resolve(true);
    const turn = this.#queue.then(() => this.#ask(name, isDirectory));
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  close(): void {
    this.#coprocess.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #ask(name: string, isDirectory: boolean): Promise<boolean> {
    const putBack = this.#makeKindVisible(name, isDirectory);
    try {
      // With `./` in front, a name that starts like pathspec magic is a name.
      this.#coprocess.stdin.write(`./${name}\0`);
      const source = await this.#field();
      await this.#field();
      const pattern = await this.#field();
      await this.#field();
      const ignored = source !== '' && !pattern.startsWith('!');
      if (ignored && isDirectory) this.#ignoredDirectories.add(name);
      return ignored;
    } finally {
      putBack();
    }
  }

  /** git looks at the work tree to tell a directory from a file (`build/` matches only the former). */
  #makeKindVisible(name: string, isDirectory: boolean): () => void {
    const place = path.join(this.#workTree, name);
    if (isDirectory) {
      try {
        mkdirSync(place, { recursive: true, mode: 0o700 });
      } catch (cause) {
        // A `.gitignore` file of the tree stands where the archive has a directory: nothing there that git could see.
        if (!hasCode(cause, 'ENOTDIR') && !hasCode(cause, 'EEXIST')) throw cause;
      }
      return () => undefined;
    }
    if (statSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) return () => undefined;
    const aside = path.join(this.#directory, 'aside');
    renameSync(place, aside);
    return () => renameSync(aside, place);
  }

  async #field(): Promise<string> {
    for (;;) {
      const end = this.#buffer.indexOf(0);
      if (end >= 0) {
        const field = this.#buffer.toString('utf8', 0, end);
        this.#buffer = this.#buffer.subarray(end + 1);
        return field;
      }
      const piece = await this.#pieces.next();
      if (piece.done) throw new GitError(['check-ignore'], (await this.#coprocess.ended) || 'git has ended', false);
      this.#buffer = Buffer.concat([this.#buffer, piece.value]);
    }
  }
}

/** Names that git may be asked about. The others are refused later, by name, wherever they came from. */
function askable(name: string): boolean {
  return normalizePath('file', name).ok;
}

function parentsOf(name: string): string[] {
  const parents: string[] = [];
  for (let slash = name.indexOf('/'); slash > 0; slash = name.indexOf('/', slash + 1))
    parents.push(name.slice(0, slash));
  return parents;
}

function hasCode(cause: unknown, code: string): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === code;
}
