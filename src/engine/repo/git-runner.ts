/**
 * Starts git. Trusts: the git program on PATH. Does not trust: the host's environment, any configuration outside the
 * repository, the amount of output. Arguments are a vector; no shell is involved.
 */
import { execa } from 'execa';
import { gitEnvironment } from './git-environment.ts';

/** A repository, and the variables that make up the view of it (object directory, index file). */
export interface GitPlace {
  readonly gitDir: string;
  /** Variables on top of the sterile ones. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What one call of git needs. `input` goes to stdin, otherwise stdin is empty. */
interface GitCall extends GitPlace {
  readonly args: readonly string[];
  readonly input?: Uint8Array;
  readonly signal: AbortSignal;
  /** Output beyond this ends git and throws; default 64 MiB. Not used when `onStdout` takes the output. */
  readonly maxBytes?: number;
  /** Called with each piece of standard output, which is then not kept. */
  readonly onStdout?: (chunk: Buffer) => void;
}

interface GitOutcome {
  readonly exitCode: number;
  readonly stdout: Buffer;
  /** First 64 KiB of standard error. */
  readonly stderr: string;
}

/** A git process that could not do what was asked, apart from the outcomes a caller expects. Turned into a value by `guard`. */
export class GitError extends Error {
  override readonly name = 'GitError';
  constructor(
    readonly args: readonly string[],
    readonly stderr: string,
    readonly cancelled: boolean,
  ) {
    super(cancelled ? 'git was cancelled' : `git ${args[0] ?? ''} failed: ${firstLine(stderr)}`);
  }
}

/** A running git that answers requests on its standard streams. */
export interface GitCoprocess {
  readonly stdin: NodeJS.WritableStream;
  readonly stdout: AsyncIterable<Buffer>;
  /** Settles when it has ended, with what it said on standard error; never rejects. */
  readonly ended: Promise<string>;
  kill(): void;
}

export class GitRunner {
  readonly #git: string;
  readonly #emptyDir: string;

  /** `emptyDir` must exist and stay empty. */
  constructor(options: { readonly git: string; readonly emptyDir: string }) {
    this.#git = options.git;
    this.#emptyDir = options.emptyDir;
  }

  /** Runs git to its end. Any exit code is an outcome; a signal, a cancellation or too much output throws `GitError`. */
  async run(call: GitCall): Promise<GitOutcome> {
    if (call.signal.aborted) throw new GitError(call.args, '', true);
    const child = this.#start(call, call.input === undefined ? 'ignore' : 'pipe');
    const maxBytes = call.maxBytes ?? 64 * 1024 * 1024;
    const chunks: Buffer[] = [];
    let bytes = 0;
    let failure: unknown;
    child.stdout.on('data', (chunk: Buffer) => {
      if (failure !== undefined) return;
      try {
        if (call.onStdout !== undefined) return call.onStdout(chunk);
        bytes += chunk.length;
        if (bytes > maxBytes) throw new GitError(call.args, `more than ${maxBytes} bytes of output`, false);
        chunks.push(chunk);
      } catch (cause) {
        failure = cause;
        child.kill('SIGKILL');
      }
    });
    const complaints = collectBounded(child.stderr, STDERR_BYTES);
    if (call.input !== undefined) child.stdin?.end(call.input);
    const result = await child;
    if (failure !== undefined) throw failure;
    if (result.isCanceled || call.signal.aborted) throw new GitError(call.args, complaints(), true);
    if (result.exitCode === undefined) throw new GitError(call.args, complaints() || result.message || '', false);
    return { exitCode: result.exitCode, stdout: Buffer.concat(chunks), stderr: complaints() };
  }

  /** Like `run`, where only exit code 0 is expected. */
  async must(call: GitCall): Promise<Buffer> {
    const outcome = await this.run(call);
    if (outcome.exitCode !== 0) throw new GitError(call.args, outcome.stderr, false);
    return outcome.stdout;
  }

  /** Starts a git that the caller feeds and must end with `kill` or by ending its stdin. */
  coprocess(call: Pick<GitCall, 'gitDir' | 'args' | 'env' | 'signal'>): GitCoprocess {
    const child = this.#start(call, 'pipe');
    const complaints = collectBounded(child.stderr, STDERR_BYTES);
    // Writing to a git that has died must show as its end, not as an unhandled error.
    child.stdin?.on('error', () => undefined);
    const ended = child.then(
      (result) => complaints() || (result.exitCode === undefined ? String(result.message) : ''),
      (cause: unknown) => String(cause),
    );
    if (child.stdin === null) throw new Error('a coprocess has a standard input');
    return { stdin: child.stdin, stdout: child.stdout, ended, kill: () => void child.kill('SIGKILL') };
  }

  #start(call: Pick<GitCall, 'gitDir' | 'args' | 'env' | 'signal'>, stdin: 'ignore' | 'pipe') {
    const base = gitEnvironment({ path: process.env.PATH ?? '', emptyDir: this.#emptyDir, gitDir: call.gitDir });
    const child = execa(this.#git, call.args, {
      cwd: this.#emptyDir,
      env: { ...base, ...call.env },
      extendEnv: false,
      stdin,
      stdout: 'pipe',
      stderr: 'pipe',
      buffer: false,
      encoding: 'buffer',
      reject: false,
      cancelSignal: call.signal,
      forceKillAfterDelay: 1_000,
    });
    child.stdin?.on('error', () => undefined);
    return child;
  }
}

const STDERR_BYTES = 64 * 1024;

function collectBounded(stream: NodeJS.ReadableStream, maxBytes: number): () => string {
  const chunks: Buffer[] = [];
  let room = maxBytes;
  stream.on('data', (chunk: Buffer) => {
    if (room <= 0) return;
    chunks.push(chunk.subarray(0, room));
    room -= chunk.length;
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}
