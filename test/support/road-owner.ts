import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { RoadChildOrder } from './road-child.ts';

export interface RoadOwner {
  readonly pid: number;
  /** Resolves once the engine is open in it; fails when it ends before. */
  ready(): Promise<void>;
  /** SIGKILL, and until the kernel has let go of it. */
  kill(): Promise<void>;
  /** Closes its engine and waits for a clean end. */
  end(): Promise<void>;
}

/** Starts a process that owns the engine of a project. It dies with the test only when the test kills or ends it. */
export async function spawnRoadOwner(order: RoadChildOrder): Promise<RoadOwner> {
  const child: ChildProcess = spawn(process.execPath, [await childBundle(), JSON.stringify(order)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const opened = new Promise<boolean>((resolve) => {
    if (child.stdout) createInterface({ input: child.stdout }).once('line', () => resolve(true));
    child.once('exit', () => resolve(false));
  });
  return {
    pid: child.pid ?? 0,
    async ready() {
      if (!(await opened)) throw new Error('the owning process ended before its engine was open');
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async end() {
      child.stdin?.end();
      const [code] = (await exited) as [number | null];
      if (code !== 0) throw new Error(`the owning process ended with ${String(code)}`);
    },
  };
}

export function removeChildBundle(): void {
  rmSync(outfile, { force: true });
}

const here = path.dirname(fileURLToPath(import.meta.url));
/** Inside the checkout, because its imports of packages are resolved from where it lies. */
const outfile = path.resolve(here, `../../node_modules/.cache/roundtable/road-child-${process.pid}.mjs`);

/** One file, so that starting it takes no longer than starting node. */
async function childBundle(): Promise<string> {
  if (existsSync(outfile)) return outfile;
  mkdirSync(path.dirname(outfile), { recursive: true });
  await build({
    entryPoints: [path.join(here, 'road-child.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent',
  });
  return outfile;
}
