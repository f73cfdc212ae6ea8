/**
 * Starts git in the user's own repository, as the user: his configuration, identity, attributes and filters count. Does not
 * trust: hooks and file monitors (off: plumbing runs them too), variables of the host that would point git at another
 * repository, index or object store, the amount of output.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { pipeline } from 'node:stream/promises';
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

  /** Feeds what one git writes to another one; both must end with 0. Nothing is held in memory. */
  async pipe(from: TargetGitCall, to: TargetGitCall): Promise<void> {
    if (from.signal?.aborted) throw new TargetGitError(from.args, '', true);
    const producer = this.start(from);
    const consumer = this.start(to);
    producer.stdin.end(from.input ?? '');
    const moved = pipeline(producer.stdout, consumer.stdin).catch(() => undefined);
    const [, first, second] = await Promise.all([
      moved,
      collect(producer, from.args, from.signal, false),
      collect(consumer, to.args, to.signal),
    ]);
    if (first.exitCode !== 0) throw new TargetGitError(from.args, first.stderr, false);
    if (second.exitCode !== 0) throw new TargetGitError(to.args, second.stderr, false);
  }

  /** A running git. `detached`: in its own process group, so that a signal from the terminal does not reach it. */
  start(call: TargetGitCall, options: { readonly detached?: boolean } = {}): ChildProcessWithoutNullStreams {
    const config = [...FIXED_CONFIG, ...(call.config ?? [])].flatMap((setting) => ['-c', setting]);
    const child = spawn(this.#git, [...config, ...call.args], {
      cwd: call.workTree ?? call.gitDir,
      env: environment(call),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: options.detached ?? false,
    });
    // A git that ends early must show as its exit code, not as an unhandled EPIPE.
    child.stdin.on('error', () => undefined);
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
  child: ChildProcessWithoutNullStreams,
  args: readonly string[],
  signal: AbortSignal | undefined,
  keepOutput = true,
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
    if (keepOutput) {
      child.stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_OUTPUT_BYTES)
          fail(new TargetGitError(args, `more than ${MAX_OUTPUT_BYTES} bytes of output`, false));
        else stdout.push(chunk);
      });
    }
    child.stderr.on('data', (chunk: Buffer) => {
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
