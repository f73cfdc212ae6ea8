import { execFileSync } from 'node:child_process';

/** Container tests need an engine. With ROUNDTABLE_REQUIRE_CONTAINER_TESTS=1 a missing one fails the run at once. */
export default function setup(): void {
  if (process.env.ROUNDTABLE_REQUIRE_CONTAINER_TESTS !== '1') return;
  try {
    execFileSync('docker', ['version', '--format', '{{.Server.Version}}'], { stdio: 'pipe', timeout: 20_000 });
  } catch (cause) {
    throw new Error('container tests are required but no engine answers; start Docker first', { cause });
  }
}
