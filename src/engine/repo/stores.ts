/**
 * The two stores on disk: `<gitDir>` holds revisions, `<gitDir>/bases` what was fetched from the user's repository.
 * Trusts: the user's repository to be a git repository of his. Runs nothing it configures: see git-environment.
 */
import { access, copyFile, mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ObjectId } from '../domain/ids.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { RepositoryFailure } from '../ports/private-repository.ts';
import { GitError, type GitPlace, type GitRunner } from './git-runner.ts';

export class Stores {
  readonly #runner: GitRunner;
  readonly #userGitDir: string;
  readonly #gitDir: string;
  readonly #trees = new Map<ObjectId, ObjectId>();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(runner: GitRunner, paths: { readonly gitDir: string; readonly userGitDir: string }) {
    this.#runner = runner;
    this.#gitDir = paths.gitDir;
    this.#userGitDir = paths.userGitDir;
  }

  /** Everything: revisions, and bases through an alternate. */
  get revisions(): GitPlace {
    return { gitDir: this.#gitDir };
  }

  /** Bases only. */
  get bases(): GitPlace {
    return { gitDir: path.join(this.#gitDir, 'bases') };
  }

  get revisionObjects(): string {
    return path.join(this.#gitDir, 'objects');
  }

  get baseObjects(): string {
    return path.join(this.#gitDir, 'bases', 'objects');
  }

  /** Makes the commit's whole tree available and answers its id. One fetch at a time; known bases cost nothing. */
  ensureBase(commit: ObjectId, signal: AbortSignal): Promise<Result<{ tree: ObjectId }, RepositoryFailure>> {
    const known = this.#trees.get(commit);
    if (known !== undefined) return Promise.resolve(ok({ tree: known }));
    const turn = this.#queue.then(() => this.#fetchBase(commit, signal));
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async #fetchBase(commit: ObjectId, signal: AbortSignal): Promise<Result<{ tree: ObjectId }, RepositoryFailure>> {
    if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit)) return err(baseMissing(commit));
    const stored = await this.#storedTree(commit, signal);
    if (stored !== null) return this.#remember(commit, stored);
    if (!(await exists(path.join(this.#gitDir, READY)))) {
      const objectFormat = await this.#objectFormatOfUser(signal);
      if (!objectFormat.ok) return objectFormat;
      await this.#create(objectFormat.value, signal);
    }
    const refspec = `+${commit}:refs/bases/${commit}`;
    const args = ['fetch', '--quiet', '--depth=1', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'];
    const fetched = await this.#runner.run({
      ...this.bases,
      args: [...args, '--no-recurse-submodules', '--end-of-options', this.#userGitDir, refspec],
      signal,
    });
    if (fetched.exitCode !== 0) return err(await this.#whyNotFetched(commit, fetched.stderr, signal));
    await this.#copyShallow();
    const tree = await this.#storedTree(commit, signal);
    return tree === null ? err(fetchFailed(commit, this.#userGitDir, 'no tree arrived')) : this.#remember(commit, tree);
  }

  #remember(commit: ObjectId, tree: ObjectId): Result<{ tree: ObjectId }, never> {
    if (this.#trees.size >= REMEMBERED) this.#trees.clear();
    this.#trees.set(commit, tree);
    return ok({ tree });
  }

  async #storedTree(commit: ObjectId, signal: AbortSignal): Promise<ObjectId | null> {
    if (!(await exists(path.join(this.#gitDir, READY)))) return null;
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `refs/bases/${commit}^{tree}`];
    const { exitCode, stdout } = await this.#runner.run({ ...this.bases, args, signal });
    return exitCode === 0 ? (stdout.toString('latin1').trim() as ObjectId) : null;
  }

  async #objectFormatOfUser(signal: AbortSignal): Promise<Result<string, RepositoryFailure>> {
    const place = { gitDir: this.#userGitDir };
    const version = await this.#runner.run({ ...place, args: ['version'], signal });
    const [major = 0, minor = 0] = version.stdout.toString('latin1').match(/\d+/g)?.map(Number) ?? [];
    if (version.exitCode !== 0 || major < 2 || (major === 2 && minor < OLDEST_MINOR)) {
      return err(tooOld(version.stdout.toString('latin1').trim()));
    }
    const format = await this.#runner.run({ ...place, args: ['rev-parse', '--show-object-format'], signal });
    if (format.exitCode !== 0) return err(notUsable(this.#userGitDir, format.stderr));
    return ok(format.stdout.toString('latin1').trim());
  }

  /** git's words at a failed fetch say little, so the cause is looked for where it lies. */
  async #whyNotFetched(commit: ObjectId, stderr: string, signal: AbortSignal): Promise<RepositoryFailure> {
    const place = { gitDir: this.#userGitDir };
    const repository = await this.#objectFormatOfUser(signal);
    if (!repository.ok) return repository.error;
    const kind = await this.#runner.run({ ...place, args: ['cat-file', '-t', commit], signal });
    if (kind.exitCode !== 0 || kind.stdout.toString('latin1').trim() !== 'commit') return baseMissing(commit);
    const promisor = await this.#runner.run({ ...place, args: ['config', '--get-regexp', PROMISOR], signal });
    const missing = promisor.exitCode === 0 ? await this.#countMissing(commit, signal) : 0;
    if (missing > 0) return partialClone(this.#userGitDir, commit, missing);
    return fetchFailed(commit, this.#userGitDir, stderr);
  }

  async #countMissing(commit: ObjectId, signal: AbortSignal): Promise<number> {
    const args = ['rev-list', '--objects', '--missing=print', '--no-object-names', `${commit}^{tree}`];
    const { exitCode, stdout, stderr } = await this.#runner.run({ gitDir: this.#userGitDir, args, signal });
    if (exitCode !== 0) throw new GitError(args, stderr, false);
    return stdout
      .toString('latin1')
      .split('\n')
      .filter((line) => line.startsWith('?')).length;
  }

  async #create(objectFormat: string, signal: AbortSignal): Promise<void> {
    for (const place of [this.revisions, this.bases]) {
      await mkdir(place.gitDir, { recursive: true, mode: 0o700 });
      const args = [
        'init',
        '--quiet',
        '--bare',
        '--template=',
        '--initial-branch=none',
        `--object-format=${objectFormat}`,
      ];
      await this.#runner.must({ ...place, args, signal });
      await mkdir(path.join(place.gitDir, 'info'), { recursive: true, mode: 0o700 });
      await writeFile(path.join(place.gitDir, 'info', 'attributes'), ATTRIBUTES);
    }
    await mkdir(path.join(this.revisionObjects, 'info'), { recursive: true, mode: 0o700 });
    await writeFile(path.join(this.revisionObjects, 'info', 'alternates'), '../bases/objects\n');
    // Written last: a creation that was killed half-way is done again.
    await writeFile(path.join(this.#gitDir, READY), 'roundtable private repository, layout 1\n');
  }

  /** Revisions' commits have bases as parents, whose own parents are missing on purpose. */
  async #copyShallow(): Promise<void> {
    const from = path.join(this.#gitDir, 'bases', 'shallow');
    if (!(await exists(from))) return;
    const staged = path.join(this.#gitDir, 'shallow.new');
    await copyFile(from, staged);
    await rename(staged, path.join(this.#gitDir, 'shallow'));
  }
}

/** No attribute of a tree changes a byte, hides a diff or names a program. `!` also keeps built-in text diffs. */
const ATTRIBUTES =
  '* -text !eol -filter -ident !working-tree-encoding -export-subst -export-ignore !whitespace !merge !diff !conflict-marker-size\n';
const READY = 'roundtable-ready';
const PROMISOR = '^(extensions\\.partialclone|remote\\..*\\.(promisor|partialclonefilter))$';
const REMEMBERED = 1_000;
/** First git with `merge-tree --write-tree`. */
const OLDEST_MINOR = 38;

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

function baseMissing(commit: string): RepositoryFailure {
  return {
    code: 'base_missing',
    message: `the repository has no commit ${commit}`,
    remedy: 'fetch it, or choose a base that exists here',
  };
}

function tooOld(found: string): RepositoryFailure {
  return {
    code: 'git_too_old',
    message: `${found || 'git'} is older than 2.${OLDEST_MINOR}`,
    remedy: `install git 2.${OLDEST_MINOR} or newer`,
  };
}

function notUsable(userGitDir: string, stderr: string): RepositoryFailure {
  const known = /not a git repository/.test(stderr);
  return {
    code: known ? 'not_a_repository' : 'unsupported_repository',
    message: known ? `${userGitDir} is not a git repository` : `git can not open ${userGitDir}: ${stderr.trim()}`,
    remedy: known ? 'run it inside a git repository' : 'see what `git status` says there',
  };
}

function partialClone(userGitDir: string, commit: string, missing: number): RepositoryFailure {
  return {
    code: 'unsupported_repository',
    message: `partial clone: ${missing} objects of ${commit} are not in ${userGitDir}`,
    remedy: `fetch them once with \`git archive ${commit} > /dev/null\` or \`git fetch --refetch --no-filter\`, then try again`,
  };
}

function fetchFailed(commit: string, userGitDir: string, stderr: string): RepositoryFailure {
  const owner = /dubious ownership/.test(stderr);
  return {
    code: owner ? 'unsupported_repository' : 'git_failed',
    message: `commit ${commit} could not be copied from ${userGitDir}: ${stderr.trim().split('\n').slice(0, 3).join('; ')}`,
    remedy: owner ? 'give the repository to the user who runs this' : 'see what `git fsck` says in that repository',
  };
}
