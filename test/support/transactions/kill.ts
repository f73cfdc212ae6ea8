import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { GIT_ENVIRONMENT } from './git.ts';
import type { KillOrder } from './kill-child.ts';

const here = path.dirname(fileURLToPath(import.meta.url));

/** The child as one file, so that starting it takes no longer than starting node. Answers its path. */
export async function buildKillChild(): Promise<string> {
  // Inside the checkout, because its imports of packages are resolved from where it lies.
  const directory = path.resolve(here, '../../../node_modules/.cache/roundtable');
  mkdirSync(directory, { recursive: true });
  const outfile = path.join(directory, `kill-child-${process.pid}.mjs`);
  await build({
    entryPoints: [path.join(here, 'kill-child.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent',
  });
  return outfile;
}

export interface KillResult {
  readonly signal: NodeJS.Signals | null;
  /** What it said: `ready`, and how many changing calls it made if it came to the end. */
  readonly output: string;
  readonly complaints: string;
}

/** Runs the child to its end; `killAfterMs`: from `ready` on, with SIGKILL from outside. */
export async function runKillChild(child: string, order: KillOrder, killAfterMs: number | null): Promise<KillResult> {
  const running = spawn(process.execPath, [child, JSON.stringify(order)], {
    env: GIT_ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let complaints = '';
  let timer: NodeJS.Timeout | null = null;
  running.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    if (output === '' && killAfterMs !== null) timer = setTimeout(() => running.kill('SIGKILL'), killAfterMs);
    output += chunk;
  });
  running.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    complaints += chunk;
  });
  const [, signal] = (await once(running, 'close')) as [number | null, NodeJS.Signals | null];
  if (timer !== null) clearTimeout(timer);
  return { signal, output, complaints };
}
