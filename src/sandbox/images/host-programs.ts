import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { MissingPiece } from './image-entry.ts';

const SEARCH = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/sbin', '/sbin'];
const TIMEOUT_MS = 10_000;

/** Absolute path of a program of this machine, looked for in the system directories and then in PATH. */
export async function findProgram(name: string, debianPackage: string): Promise<string> {
  const extra = (process.env.PATH ?? '').split(':').filter((dir) => path.isAbsolute(dir));
  for (const dir of [...SEARCH, ...extra]) {
    const candidate = path.join(dir, name);
    if (await isExecutable(candidate)) return candidate;
  }
  throw new MissingPiece(name, debianPackage);
}

/** Libraries and loader of a dynamic program: image path → host file. Empty for a static one. */
export async function librariesOf(program: string): Promise<ReadonlyMap<string, string>> {
  const ldd = await findProgram('ldd', 'libc-bin');
  const { stdout, stderr, exitCode } = await execa(ldd, [program], { reject: false, timeout: TIMEOUT_MS });
  if (exitCode !== 0) {
    if (/not a dynamic executable|statically linked/.test(`${stdout}\n${stderr}`)) return new Map();
    throw new MissingPiece(`the list of libraries of ${program}`, 'libc-bin', new Error(stderr));
  }
  const libraries = new Map<string, string>();
  for (const line of stdout.split('\n')) {
    // `libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x…)`, `/lib64/ld-linux-x86-64.so.2 (0x…)`
    const missing = /^\s*(\S+) => not found/.exec(line);
    if (missing) throw new MissingPiece(`${missing[1]}, which ${program} needs,`, 'the one that owns the library');
    const found = /(?:^|=>)\s*(\/\S+) \(0x[0-9a-f]+\)\s*$/.exec(line)?.[1];
    if (found) libraries.set(found, await realpath(found));
  }
  return libraries;
}

/** Standard output of a program of this machine, run directly with an argument vector. */
export async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await execa(program, args, { timeout: TIMEOUT_MS, stdin: 'ignore' });
  return stdout;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
