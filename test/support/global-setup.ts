import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Before all tests: the bundle is up to date (end-to-end tests run what ships), and where container tests are required
 * an engine answers, or the run fails at once.
 */
export default function setup(): void {
  const built = newest(path.join(root, 'dist'));
  if (built < Math.max(newest(path.join(root, 'src')), newest(path.join(root, 'bin')))) {
    execFileSync(process.execPath, [path.join(root, 'scripts', 'build.mjs')], { stdio: 'inherit' });
  }
  if (process.env.ROUNDTABLE_REQUIRE_CONTAINER_TESTS !== '1') return;
  try {
    execFileSync('docker', ['version', '--format', '{{.Server.Version}}'], { stdio: 'pipe', timeout: 20_000 });
  } catch (cause) {
    throw new Error('container tests are required but no engine answers; start Docker first', { cause });
  }
}

function newest(directory: string): number {
  try {
    return Math.max(
      ...readdirSync(directory, { recursive: true, encoding: 'utf8' }).map(
        (name) => statSync(path.join(directory, name)).mtimeMs,
      ),
    );
  } catch {
    return 0;
  }
}
