import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Start of `roundtable --version` from the bundle against bare `node -e 0`; medians in ms. Wanted: ratio ≤ 1.3. */
export interface StartBench {
  readonly versionMs: number;
  readonly bareNodeMs: number;
  readonly ratio: number;
}

export function benchStart(rounds = 31): StartBench {
  const entry = path.join(root, 'dist', 'roundtable.js');
  const once = (args: readonly string[]): number => {
    const from = performance.now();
    const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' });
    if (status !== 0) throw new Error(`node ${args.join(' ')} failed; run \`npm run build\` first`);
    return performance.now() - from;
  };
  const version: number[] = [];
  const bare: number[] = [];
  // Taken in turns, so that whatever else the machine does hits both alike.
  for (let round = 0; round < rounds; round += 1) {
    version.push(once([entry, '--version']));
    bare.push(once(['-e', '0']));
  }
  const versionMs = median(version);
  const bareNodeMs = median(bare);
  return { versionMs, bareNodeMs, ratio: versionMs / bareNodeMs };
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
