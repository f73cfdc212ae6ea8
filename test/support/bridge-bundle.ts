import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const entry = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../src/sandbox/bridge/bridge.ts');

/** Bundles the in-container bridge the way the package ships it, into `dir/bridge.mjs`. */
export async function bundleBridge(dir: string): Promise<string> {
  const outfile = path.join(dir, 'bridge.mjs');
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node18',
    minify: true,
  });
  return outfile;
}
