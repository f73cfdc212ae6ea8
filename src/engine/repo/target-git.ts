/**
 * Starts git in the user's own repository, as the user: his configuration, identity, attributes and filters count. Does not
 * trust: hooks and file monitors (off: plumbing runs them too), variables of the host that would point git at another
 * repository, index or object store, the amount of output.
 */
import { type ChildProcess, type ChildProcessWithoutNullStreams, type StdioOptions, spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { TargetGitError } from '../ports/target-repository.ts';

export interface TargetGitCall {
  readonly gitDir: string;
  readonly args: readonly string[];
  /** Working directory and GIT_WORK_TREE; without it git works as in a bare repository. */
  readonly workTree?: string | undefined;
  readonly indexFile?: string | undefined;
  /** Configuration on top of the fixed one, `key=value`. */
  readonly config?: readonly string[] | undefined;
  readonly input?: Uint8Array | string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TargetGitOutcome {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export class TargetGit {
  readonly #git: string;

  constructor(git: string) {
    this.#git = git;
  }

  /** Any exit code is an outcome; a cancellation, a signal or too much output throws. */
  async run(call: TargetGitCall): Promise<TargetGitOutcome> {
    if (call.signal?.aborted) throw new TargetGitError(call.args, '', true);
    const child = this.start(call);
    if (call.input === undefined) child.stdin.end();
    else child.stdin.end(call.input);
    return collect(child, call.args, call.signal);
  }

  /** Like `run`, where only exit code 0 is expected. */
  async must(call: TargetGitCall): Promise<Buffer> {
    const outcome = await this.run(call);
    if (outcome.exitCode !== 0) throw new TargetGitError(call.args, outcome.stderr, false);
    return outcome.stdout;
  }

  /** The one call in which git looks for the repository itself, upwards from a directory. */
  async discover(directory: string, args: readonly string[]): Promise<string> {
    const child = spawn(this.#git, [...args], {
      cwd: directory,
      env: environment({}),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.on('error', () => undefined).end();
    const outcome = await collect(child, args, undefined);
    if (outcome.exitCode !== 0) throw new TargetGitError(args, outcome.stderr, false);
    return outcome.stdout.toString('utf8').trimEnd();
  }

  /**
   * Feeds what one git writes to another one; both must end with 0. By a file without a name instead of a pipe through this
   * process: when it is killed in between, the second one still ends whole and leaves no half-written pack behind.
   */
  async pipe(from: TargetGitCall, to: TargetGitCall): Promise<void> {
    const file = path.join(to.gitDir, `roundtable-transfer-${process.pid}-${Date.now()}`);
    const written = await fs.open(file, 'wx+', 0o600);
    try {
      const read = await fs.open(file, 'r');
      try {
        await fs.unlink(file);
        for (const [call, stdio] of [
          [from, ['pipe', written.fd, 'pipe']],
          [to, [read.fd, 'pipe', 'pipe']],
        ] as const) {
          if (call.signal?.aborted) throw new TargetGitError(call.args, '', true);
          const child = this.#spawn(call, [...stdio], false);
          child.stdin?.end(call.input ?? '');
          const outcome = await collect(child, call.args, call.signal);
          if (outcome.exitCode !== 0) throw new TargetGitError(call.args, outcome.stderr, false);
        }
      } finally {
        await read.close();
      }
    } finally {
      await written.close();
    }
  }

  /** A running git. `detached`: in its own process group, so that a signal from the terminal does not reach it. */
  start(call: TargetGitCall, options: { readonly detached?: boolean } = {}): ChildProcessWithoutNullStreams {
    return this.#spawn(call, ['pipe', 'pipe', 'pipe'], options.detached ?? false) as ChildProcessWithoutNullStreams;
  }

  #spawn(call: TargetGitCall, stdio: StdioOptions, detached: boolean): ChildProcess {
    const config = [...FIXED_CONFIG, ...(call.config ?? [])].flatMap((setting) => ['-c', setting]);
    const child = spawn(this.#git, [...config, ...call.args], {
      cwd: call.workTree ?? call.gitDir,
      env: environment(call),
      stdio,
      detached,
    });
    // A git that ends early must show as its exit code, not as an unhandled EPIPE.
    child.stdin?.on('error', () => undefined);
    return child;
  }
}

const FIXED_CONFIG = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.fsync=all',
  'core.splitIndex=false',
  'core.quotePath=true',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  'diff.external=',
];

/** What would make git look at another repository, index, object store or history. Identity and configuration stay. */
const REMOVED =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|INDEX_VERSION|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|PREFIX|CEILING_DIRECTORIES|GRAFT_FILE|SHALLOW_FILE|REPLACE_REF_BASE|TRACE.*|EXTERNAL_DIFF|DIFF_.*|ATTR_SOURCE|.*_PATHSPECS|QUARANTINE_PATH|INTERNAL_.*|REFLOG_ACTION|DEFAULT_HASH|EXEC_PATH)$/;

function environment(call: Partial<Pick<TargetGitCall, 'gitDir' | 'workTree' | 'indexFile'>>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !REMOVED.test(name));
  return {
    ...Object.fromEntries(inherited),
    LC_ALL: 'C',
    ...(call.gitDir === undefined ? {} : { GIT_DIR: call.gitDir }),
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    ...(call.workTree === undefined ? {} : { GIT_WORK_TREE: call.workTree }),
    ...(call.indexFile === undefined ? {} : { GIT_INDEX_FILE: call.indexFile }),
  };
}

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
const MAX_STDERR_BYTES = 64 * 1024;

function collect(
  child: ChildProcess,
  args: readonly string[],
  signal: AbortSignal | undefined,
): Promise<TargetGitOutcome> {
  return new Promise((resolve, reject) => {
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let bytes = 0;
    let errorBytes = 0;
    let failure: TargetGitError | null = null;
    const fail = (error: TargetGitError) => {
      failure ??= error;
      child.kill('SIGTERM');
    };
    const cancel = () => fail(new TargetGitError(args, '', true));
    signal?.addEventListener('abort', cancel, { once: true });
    child.stdout?.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES)
        fail(new TargetGitError(args, `more than ${MAX_OUTPUT_BYTES} bytes of output`, false));
      else stdout.push(chunk);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      if (errorBytes < MAX_STDERR_BYTES) stderr.push(chunk.subarray(0, MAX_STDERR_BYTES - errorBytes));
      errorBytes += chunk.length;
    });
    child.once('error', (cause) => {
      signal?.removeEventListener('abort', cancel);
      reject(new TargetGitError(args, String(cause), false));
    });
    child.once('close', (code, killedBy) => {
      signal?.removeEventListener('abort', cancel);
      const complaints = Buffer.concat(stderr).toString('utf8');
      if (failure !== null) reject(failure);
      else if (code === null) reject(new TargetGitError(args, complaints || `ended by ${killedBy}`, false));
      else resolve({ exitCode: code, stdout: Buffer.concat(stdout), stderr: complaints });
    });
  });
}
