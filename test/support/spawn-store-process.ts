import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

export interface StoreProcess {
  readonly child: ChildProcess;
  /** The next line it says, parsed; fails when it ends without one. */
  line(): Promise<unknown>;
  /** Ends it with SIGKILL and waits until the kernel has let go of it. */
  kill(): Promise<void>;
  /** Closes its input and waits for a clean end. */
  end(): Promise<void>;
}

/** Runs `store-process.ts` with the given mode in a process of its own. */
export function spawnStoreProcess(mode: string, directory: string, ...rest: string[]): StoreProcess {
  const child = spawn(process.execPath, [bundle(directory), mode, directory, ...rest], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    async line() {
      const next = await lines.next();
      if (next.done === true) throw new Error(`the process "${mode}" ended without an answer`);
      return JSON.parse(next.value);
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async end() {
      child.stdin.end();
      const [code] = await exited;
      if (code !== 0) throw new Error(`the process "${mode}" ended with ${String(code)}`);
    },
  };
}

/** Compiled once per directory, since starting the TypeScript loader in every process would take most of the time. */
function bundle(directory: string): string {
  const outfile = path.join(directory, 'store-process.mjs');
  if (existsSync(outfile)) return outfile;
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), path.join(directory, 'node_modules'));
  buildSync({
    entryPoints: [fileURLToPath(new URL('./store-process.ts', import.meta.url))],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  return outfile;
}
