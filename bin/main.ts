import path from 'node:path';
import { runProgram } from './commands/program.ts';
import { packageRoot } from './compose/package-root.ts';
import { createApplication } from './compose.ts';

/** Runs one command line in this process: signals, streams and the exit code are here and nowhere else. */
export async function main(argv: readonly string[], version: string): Promise<void> {
  const interrupt = new AbortController();
  let firstMs = 0;
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    process.on(signal, () => {
      // The first one lets the work end well; who asks again does not want to wait.
      // One key press may arrive twice, from the terminal and from a parent that passes it on.
      if (interrupt.signal.aborted && performance.now() - firstMs > REPEAT_MS) process.exit(code);
      if (interrupt.signal.aborted) return;
      firstMs = performance.now();
      interrupt.abort(code);
    });
  }
  // A reader that went away (`| head`) ends the output, not the program's work.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const exitCode = await runProgram(argv, {
    app: createApplication(process.env),
    cwd: process.cwd(),
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    interrupt: interrupt.signal,
    version,
    demoTemplate: path.join(packageRoot(), 'templates', 'demo'),
  });
  process.exitCode = exitCode;
  await flushed();
  process.exit(exitCode);
}

const REPEAT_MS = 500;

/** Output to a pipe is asynchronous: exiting before it is written would cut the last lines off. */
async function flushed(): Promise<void> {
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise<void>((resolve) => stream.write('', () => resolve()))),
  );
}
