/** Writes the files that are made from the code; with `--check` only says which are stale and exits 1. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { generatedFiles } from './docs/generated-files.ts';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const checkOnly = process.argv.includes('--check');
const stale: string[] = [];
for (const [name, text] of generatedFiles()) {
  const file = path.join(root, name);
  const old = await readFile(file, 'utf8').catch(() => null);
  if (old === text) continue;
  stale.push(name);
  if (checkOnly) continue;
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}
if (stale.length > 0) process.stdout.write(`${checkOnly ? 'stale' : 'written'}: ${stale.join(', ')}\n`);
if (checkOnly && stale.length > 0) {
  process.stderr.write('error: generated files do not match the code; run `npm run docs`\n');
  process.exitCode = 1;
}
