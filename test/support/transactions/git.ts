import { execFileSync } from 'node:child_process';

/** Environment in which the machine's own git configuration does not count. */
export const GIT_ENVIRONMENT: NodeJS.ProcessEnv = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_OPTIONAL_LOCKS: '0',
  LC_ALL: 'C',
};

/** Runs git in a directory and answers its output without the last line break; throws when it fails. */
export function git(
  directory: string,
  args: readonly string[],
  input?: string | Uint8Array,
  env: NodeJS.ProcessEnv = {},
): string {
  return execFileSync('git', [...args], {
    cwd: directory,
    env: { ...GIT_ENVIRONMENT, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    maxBuffer: 1 << 28,
    ...(input === undefined ? {} : { input }),
  })
    .toString('utf8')
    .replace(/\n$/, '');
}
