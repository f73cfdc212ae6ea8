/**
 * Reads the user's repository: HEAD, refs, the paths of a commit. Trusts: git on PATH. Writes nothing, runs no hook, obeys no
 * configuration that starts programs (the runner's environment sees to that).
 */
import { mkdir } from 'node:fs/promises';
import type { ObjectId } from '../domain/ids.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { RepositoryFailure } from '../ports/private-repository.ts';
import type { HeadState, ProjectGit } from '../ports/project-git.ts';
import { GitError, GitRunner } from './git-runner.ts';

export interface ProjectGitOptions {
  /** Git directory of the work tree that the operator stands in (its HEAD counts). */
  readonly gitDir: string;
  /** Empty directory that stays empty; made when missing. */
  readonly emptyDir: string;
  /** How long an answer about a ref may be used again; many askers within one tick cost one process. */
  readonly refCacheMs: number;
  readonly nowMs: () => number;
}

export function createProjectGit(options: ProjectGitOptions): ProjectGit {
  const runner = new GitRunner({ git: 'git', emptyDir: options.emptyDir });
  const resolved = new Map<
    string,
    { readonly at: number; readonly answer: Promise<Result<ObjectId | null, RepositoryFailure>> }
  >();

  async function ask(
    args: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }> {
    await mkdir(options.emptyDir, { recursive: true, mode: 0o700 });
    const outcome = await runner.run({ gitDir: options.gitDir, args, signal, maxBytes: 256 * 1024 * 1024 });
    return { exitCode: outcome.exitCode, stdout: outcome.stdout.toString('utf8'), stderr: outcome.stderr };
  }

  async function readRef(ref: string, signal: AbortSignal): Promise<Result<ObjectId | null, RepositoryFailure>> {
    return guarded(signal, async () => {
      const answer = await ask(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`], signal);
      return ok(answer.exitCode === 0 ? (answer.stdout.trim() as ObjectId) : null);
    });
  }

  return {
    async head(signal) {
      return guarded(signal, async (): Promise<Result<HeadState, RepositoryFailure>> => {
        const symbolic = await ask(['symbolic-ref', '--quiet', 'HEAD'], signal);
        const commit = await readRef('HEAD', signal);
        if (!commit.ok) return commit;
        return ok({ ref: symbolic.exitCode === 0 ? symbolic.stdout.trim() : 'HEAD', commit: commit.value });
      });
    },
    async resolve(ref, signal) {
      const now = options.nowMs();
      const known = resolved.get(ref);
      if (known && now - known.at < options.refCacheMs) return known.answer;
      const answer = readRef(ref, signal);
      resolved.set(ref, { at: now, answer });
      const settled = await answer;
      if (!settled.ok) resolved.delete(ref);
      return settled;
    },
    async expandRef(name, signal) {
      return guarded(signal, async () => {
        if (name === 'HEAD') return ok('HEAD');
        const full = name.startsWith('refs/') ? name : `refs/heads/${name}`;
        const valid = await ask(['check-ref-format', full], signal);
        if (valid.exitCode !== 0) return ok(null);
        const there = await ask(['show-ref', '--verify', '--quiet', full], signal);
        return ok(there.exitCode === 0 ? full : null);
      });
    },
    async listPaths(commit, signal) {
      return guarded(signal, async () => {
        const answer = await ask(['ls-tree', '-r', '-z', '--name-only', '--full-tree', commit], signal);
        if (answer.exitCode !== 0) {
          return err({
            code: 'git_failed',
            message: `the files of ${commit} can't be listed: ${answer.stderr.trim()}`,
            remedy: 'check the repository with `git fsck`',
          });
        }
        return ok(answer.stdout.split('\0').filter((path) => path !== ''));
      });
    },
  };
}

async function guarded<T>(
  signal: AbortSignal,
  use: () => Promise<Result<T, RepositoryFailure>>,
): Promise<Result<T, RepositoryFailure>> {
  try {
    return await use();
  } catch (cause) {
    if (!(cause instanceof GitError)) throw cause;
    if (cause.cancelled || signal.aborted) return err({ code: 'cancelled', message: 'cancelled', remedy: 'ask again' });
    return err({ code: 'git_failed', message: cause.message, remedy: 'check the repository with `git status`' });
  }
}
