/**
 * `npm run vectors -- DIR`: runs every case file it knows below DIR (`paths/paths.json`, `tar/tar.json`, …), names what
 * is missing, failed or disputed, and ends with the line `N passed, N failed`. Exit 1 when a case failed, 2 on misuse.
 */
import { existsSync } from 'node:fs';
import { FAMILIES } from './families.ts';
import { runFamilies } from './run-families.ts';

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const [directory, ...rest] = args;
  if (directory === undefined || rest.length > 0 || !existsSync(directory)) {
    process.stderr.write('usage: npm run vectors -- DIR   (a directory that holds paths/, tar/, patches/, …)\n');
    return 2;
  }
  const say = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  const { passed, failed } = await runFamilies(FAMILIES, directory, say);
  say(`${passed} passed, ${failed} failed`);
  return failed > 0 ? 1 : 0;
}
