/**
 * Asks git about the repository around a directory. Trusts: the git program on PATH and the operator's own git
 * configuration (his name must come from there). Does not trust: variables that would point git elsewhere, hooks, or
 * file system monitors; only commands that read are run, each with a deadline.
 */
import { execa } from 'execa';
import { type EngineError, engineError } from '../domain/errors.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { OperatorIdentity, ProjectFacts, RepositoryFacts } from '../ports/project-facts.ts';

const TIMEOUT_MS = 20_000;
/** Where the operator's configuration is, and how far up a repository is looked for. */
const KEPT = /^GIT_(?:CONFIG_\w+|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM)$/;

/** `environment` is that of the process; everything `GIT_*` in it is left out except who the operator is. */
export function createProjectFacts(environment: Readonly<Record<string, string | undefined>>): ProjectFacts {
  const git = gitIn(environment);
  return { read: (directory) => readFacts(git, environment, directory) };
}

type Git = (directory: string, ...args: readonly string[]) => Promise<GitAnswer>;

interface GitAnswer {
  /** Null when git could not be started. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly missing: boolean;
}

function gitIn(environment: Readonly<Record<string, string | undefined>>): Git {
  const kept = Object.entries(environment).filter(([name]) => !name.startsWith('GIT_') || KEPT.test(name));
  const env = { ...Object.fromEntries(kept), GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
  return async (directory, ...args) => {
    const result = await execa('git', ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', ...args], {
      cwd: directory,
      env,
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
      timeout: TIMEOUT_MS,
      maxBuffer: 1024 * 1024,
    });
    const { exitCode = null, stdout, stderr, code } = result;
    const words = exitCode === null ? (result.shortMessage ?? '') : stderr;
    return { exitCode, stdout, stderr: words, missing: code === 'ENOENT' };
  };
}

async function readFacts(
  git: Git,
  environment: Readonly<Record<string, string | undefined>>,
  directory: string,
): Promise<Result<RepositoryFacts, EngineError>> {
  const version = await git(directory, 'version');
  if (version.missing) {
    return err(
      engineError(
        'git_missing',
        'git was not found on PATH, or the directory does not exist',
        'install git 2.39 or newer',
      ),
    );
  }
  const shape = await git(
    directory,
    'rev-parse',
    '--is-bare-repository',
    '--is-inside-work-tree',
    '--is-shallow-repository',
    '--show-object-format',
    '--path-format=absolute',
    '--git-dir',
    '--git-common-dir',
  );
  if (shape.exitCode !== 0) return err(refusal(directory, shape));
  // The answers are one line each; a path with a line break in it would shift them and is refused below.
  const [bare, inside, shallow, format, gitDir, commonDir, ...rest] = shape.stdout.split('\n');
  if (bare === 'true') {
    return err(
      engineError(
        'bare_repository',
        `${directory} is a bare repository`,
        'run it in a clone or linked worktree that has files',
      ),
    );
  }
  if (inside !== 'true') {
    return err(
      engineError(
        'not_a_repository',
        `${directory} is inside a git directory, not a work tree`,
        'go to the files of the project',
      ),
    );
  }
  if (
    gitDir === undefined ||
    commonDir === undefined ||
    rest.length > 0 ||
    (format !== 'sha1' && format !== 'sha256')
  ) {
    const message = 'the repository has a path with a line break or an unknown object format';
    return err(engineError('unsupported_repository', message, 'move the repository to a plain path'));
  }
  const topLevel = await git(directory, 'rev-parse', '--path-format=absolute', '--show-toplevel');
  if (topLevel.exitCode !== 0) return err(refusal(directory, topLevel));
  const [head, branch, identity] = await Promise.all([
    git(directory, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}'),
    git(directory, 'symbolic-ref', '--quiet', '--short', 'HEAD'),
    readIdentity(git, environment, directory),
  ]);
  return ok({
    topLevel: topLevel.stdout,
    gitDir,
    commonDir,
    headCommit: head.exitCode === 0 ? head.stdout : null,
    branch: branch.exitCode === 0 ? branch.stdout : null,
    isShallow: shallow === 'true',
    objectFormat: format,
    identity,
    gitVersion: parseVersion(version.stdout),
  });
}

async function readIdentity(
  git: Git,
  environment: Readonly<Record<string, string | undefined>>,
  directory: string,
): Promise<OperatorIdentity> {
  const value = async (key: string, ...options: readonly string[]) => {
    const answer = await git(directory, 'config', ...options, '--get', key);
    return answer.exitCode === 0 && answer.stdout !== '' ? answer.stdout : null;
  };
  const [name, email, committerName, committerEmail, signs] = await Promise.all([
    value('user.name'),
    value('user.email'),
    value('committer.name'),
    value('committer.email'),
    value('commit.gpgSign', '--type=bool'),
  ]);
  return {
    name: environment.GIT_COMMITTER_NAME ?? committerName ?? name,
    email: environment.GIT_COMMITTER_EMAIL ?? environment.EMAIL ?? committerEmail ?? email,
    signs: signs === 'true',
  };
}

function refusal(directory: string, answer: GitAnswer): EngineError {
  if (/not a git repository/.test(answer.stderr)) {
    return engineError(
      'not_a_repository',
      `${directory} is not inside a git repository`,
      'run `git init` there, or go to the project',
    );
  }
  const words = answer.stderr.trim().split('\n')[0] ?? '';
  return engineError(
    'git_failed',
    `git could not read the repository at ${directory}: ${words}`,
    'mend what git complains about',
  );
}

function parseVersion(text: string): readonly [number, number, number] {
  const [, major, minor, patch] = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text) ?? [];
  return [Number(major ?? 0), Number(minor ?? 0), Number(patch ?? 0)];
}
