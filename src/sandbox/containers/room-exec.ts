import type { Duplex } from 'node:stream';
import type { Exec } from 'dockerode';
import { err, ok, type Result } from '../../engine/domain/result.ts';
import type { ExecExit, ExecSpec, RunningExec, RuntimeError } from '../../engine/ports/container-runtime.ts';
import { AGENT_USER } from '../hardening.ts';
import { demultiplex } from './demultiplex.ts';
import { callEngine, cancelled } from './engine-call.ts';
import type { EngineConnection } from './engine-connection.ts';
import type { ExecGate, ExecProgress } from './exec-gate.ts';
import { engineStatus, failure, RuntimeFailure, translateEngineError } from './runtime-failure.ts';

const START_TIMEOUT_MS = 30_000;
const INSPECT_TIMEOUT_MS = 15_000;
const EXIT_POLL_MS = 20;
const EXIT_DEADLINE_MS = 10_000;

/** A container, and who may start programs in it when. */
export interface ExecPlace {
  readonly engine: EngineConnection;
  readonly containerId: string;
  readonly gate: ExecGate;
}

/**
 * Starts a program in a container as the agent's user. Before the start the signal cancels; after it, the streams are
 * cut and `done` answers `cancelled`, while the program lives on until it is killed (the engine can't end an exec).
 */
export async function startExec(place: ExecPlace, spec: ExecSpec, signal: AbortSignal): Promise<RunningExec> {
  const { engine, containerId, gate } = place;
  const doing = `run ${spec.argv[0]} in container ${containerId.slice(0, 12)}`;
  const call = { doing, timeoutMs: START_TIMEOUT_MS, signal };
  const hasInput = spec.stdin !== null;
  const exec = await callEngine(call, (abortSignal) =>
    engine.docker.getContainer(containerId).exec({
      Cmd: [...spec.argv],
      Env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
      WorkingDir: spec.cwd,
      User: AGENT_USER,
      Privileged: false,
      Tty: false,
      AttachStdin: hasInput,
      AttachStdout: true,
      AttachStderr: true,
      abortSignal,
    }),
  );
  const stream = await gate.begin(
    () => progressOf(exec, doing),
    () => callEngine(call, (abortSignal) => openStream(exec, hasInput, abortSignal)),
  );
  // A process that doesn't read its input, or has ended, makes the write fail; its output and exit tell what happened.
  if (spec.stdin !== null) stream.end(Buffer.from(spec.stdin));

  const { stdout, stderr, ended } = demultiplex(stream);
  const cut = () => {
    stream.destroy();
    stdout.destroy();
    stderr.destroy();
  };
  signal.addEventListener('abort', cut, { once: true });
  if (signal.aborted) cut();
  const done = outcome(exec, ended, doing, signal).finally(() => signal.removeEventListener('abort', cut));
  return { stdout, stderr, done };
}

/** A stream that arrives after the deadline or the cancellation is closed, not leaked. */
async function openStream(exec: Exec, stdin: boolean, abortSignal: AbortSignal): Promise<Duplex> {
  const stream = await exec.start({ hijack: true, stdin, Tty: false, Detach: false });
  stream.on('error', () => {}); // seen by the reader of the stream; without a listener it would end this process
  if (abortSignal.aborted) stream.destroy();
  return stream;
}

/** The engine knows a pid as soon as the program runs, and an exit code once it has ended or could not start. */
async function progressOf(exec: Exec, doing: string): Promise<ExecProgress> {
  return callEngine({ doing, timeoutMs: INSPECT_TIMEOUT_MS }, async (): Promise<ExecProgress> => {
    try {
      const { Pid: pid, Running: running, ExitCode: exitCode } = await exec.inspect();
      if (pid > 0 || (!running && exitCode !== null)) return 'started';
      return running ? 'starting' : 'idle';
    } catch (cause) {
      if (engineStatus(cause) === 404) return 'started'; // gone together with its container
      throw cause;
    }
  });
}

async function outcome(
  exec: Exec,
  ended: Promise<'complete' | 'cut'>,
  doing: string,
  signal: AbortSignal,
): Promise<Result<ExecExit, RuntimeError>> {
  try {
    await ended;
  } catch (cause) {
    if (signal.aborted) return err(cancelled(doing).runtimeError);
    // The stream broke. What the engine says about the process decides what that means.
    const exit = await exitOf(exec, doing).catch(() => null);
    return exit ? ok(exit) : err(translateEngineError(cause, doing).runtimeError);
  }
  if (signal.aborted) return err(cancelled(doing).runtimeError);
  try {
    return ok(await exitOf(exec, doing));
  } catch (cause) {
    if (cause instanceof RuntimeFailure) return err(cause.runtimeError);
    throw cause;
  }
}

/** The stream may end a moment before the engine knows the exit code. */
async function exitOf(exec: Exec, doing: string): Promise<ExecExit> {
  const deadline = Date.now() + EXIT_DEADLINE_MS;
  for (;;) {
    const state = await callEngine({ doing, timeoutMs: INSPECT_TIMEOUT_MS }, async () => {
      try {
        return await exec.inspect();
      } catch (cause) {
        if (engineStatus(cause) === 404) return null; // removed together with its container
        throw cause;
      }
    });
    if (state === null) return { exitCode: null };
    if (!state.Running) return { exitCode: state.ExitCode };
    if (Date.now() >= deadline) {
      throw failure(
        'engine_failed',
        `could not ${doing}: its output ended, but the engine still calls it running`,
        'look at the container engine; the room can be stopped and exported all the same',
      );
    }
    await new Promise((resolve) => setTimeout(resolve, EXIT_POLL_MS));
  }
}

/** Runs a short program of ours to its end and answers its exit code and the first output. */
export async function runToEnd(
  place: ExecPlace,
  spec: ExecSpec,
  signal: AbortSignal,
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  const running = await startExec(place, spec, signal);
  const [stdout, stderr, exit] = await Promise.all([head(running.stdout), head(running.stderr), running.done]);
  if (!exit.ok) throw new RuntimeFailure(exit.error);
  return { exitCode: exit.value.exitCode, output: `${stdout}${stderr}` };
}

const HEAD_BYTES = 64 * 1024;

async function head(stream: AsyncIterable<Buffer>): Promise<string> {
  const kept: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      if (bytes < HEAD_BYTES) kept.push(chunk);
      bytes += chunk.length;
    }
  } catch {
    // cut off by the signal: `done` says so
  }
  return Buffer.concat(kept).toString('utf8').slice(0, HEAD_BYTES);
}
