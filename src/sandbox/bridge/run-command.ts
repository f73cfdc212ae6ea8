import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const FORWARDED = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/**
 * Runs one command with our standard streams and forwards signals to it. Resolves to its status the way a shell gives it:
 * 128 + n when signal n ended it, 127 when it doesn't exist, 126 when it can't be run.
 */
export function runCommand(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, [...args], { stdio: 'inherit', env });
    const forwards = FORWARDED.map((signal) => ({ signal, forward: () => void child.kill(signal) }));
    for (const { signal, forward } of forwards) process.on(signal, forward);
    const finish = (status: number) => {
      for (const { signal, forward } of forwards) process.off(signal, forward);
      resolve(status);
    };
    child.once('error', (error: NodeJS.ErrnoException) => {
      // A signal that could not be delivered also ends up here; the child's own end then decides.
      if (child.pid !== undefined) return;
      process.stderr.write(`roundtable-bridge: cannot run ${command}: ${error.code ?? error.message}\n`);
      finish(error.code === 'ENOENT' ? 127 : 126);
    });
    child.once('exit', (code, signal) => finish(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}
