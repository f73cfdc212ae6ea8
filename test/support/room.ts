import { chmod, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { Result } from '../../src/engine/domain/result.ts';
import { ROOM_PATHS, type Room } from '../../src/engine/ports/container-runtime.ts';

/** The value of a result that has to be good, or an error that says why it isn't. */
export function must<T>(result: Result<T, { readonly code: string; readonly message: string }>): T {
  if (result.ok) return result.value;
  throw new Error(`${result.error.code}: ${result.error.message}`);
}

/** A source directory as the product makes them: readable for other users below a private parent. Remove it afterwards. */
export async function makeSource(files: Readonly<Record<string, string>> = { 'a.txt': 'hello\n' }): Promise<string> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'rt-source-'));
  await chmod(dir, 0o755);
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(dir, name);
    await mkdir(path.dirname(file), { recursive: true });
    if (text.startsWith('-> ')) await symlink(text.slice(3), file);
    else await writeFile(file, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }
  return dir;
}

export const AGENT_ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: ROOM_PATHS.home, LANG: 'C.UTF-8' } as const;

export interface Ran {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end in the room. */
export async function run(room: Room, argv: readonly [string, ...string[]], stdin: string | null = null): Promise<Ran> {
  const running = must(
    await room.exec(
      { argv, env: AGENT_ENV, cwd: ROOM_PATHS.workspace, stdin: stdin === null ? null : Buffer.from(stdin) },
      AbortSignal.timeout(60_000),
    ),
  );
  const [stdout, stderr, exit] = await Promise.all([text(running.stdout), text(running.stderr), running.done]);
  return { exitCode: must(exit).exitCode, stdout, stderr };
}

/** Runs a shell script to its end in the room. */
export function sh(room: Room, script: string, stdin: string | null = null): Promise<Ran> {
  return run(room, ['sh', '-c', script], stdin);
}

export async function text(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** Polls until the condition holds; throws at the deadline. */
export async function until(what: string, holds: () => Promise<boolean>, deadlineMs = 15_000): Promise<void> {
  const end = Date.now() + deadlineMs;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`${what} did not happen within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
