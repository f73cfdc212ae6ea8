import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The bundle as it ships; the global setup keeps it up to date. */
export const PROGRAM = fileURLToPath(new URL('../../dist/roundtable.js', import.meta.url));

export interface ProgramResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the real program in a directory without a terminal. */
export function runProgram(
  cwd: string,
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly timeoutMs?: number } = {},
): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [PROGRAM, ...args],
      {
        cwd,
        env: { ...process.env, ...options.env },
        timeout: options.timeoutMs ?? 120_000,
        maxBuffer: 64 * 1024 * 1024,
        encoding: 'utf8',
      },
      (error, stdout, stderr) => {
        if (error && typeof error.code !== 'number') reject(error);
        else resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
      },
    );
    child.stdin?.end();
  });
}

export interface TemporaryRepository {
  readonly dir: string;
  git(...args: readonly string[]): string;
  write(file: string, text: string): void;
  remove(): void;
}

/** A git repository with an identity of its own, without a commit. */
export function temporaryRepository(...initOptions: readonly string[]): TemporaryRepository {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'rt-program-'));
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, {
      cwd: dir,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    }).trim();
  git('init', '--quiet', '--initial-branch=main', ...initOptions);
  git('config', 'user.name', 'Test Operator');
  git('config', 'user.email', 'operator@example.invalid');
  return {
    dir,
    git,
    write: (file, text) => writeFileSync(path.join(dir, file), text),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}
