import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { removeTestProject, testRuntime } from './container.ts';

/** The id that the project's rooms and volumes are labelled with. */
export function projectIdOf(dir: string): string {
  const database = new Database(path.join(dir, '.git/roundtable/roundtable.db'), { readonly: true });
  try {
    return String(database.prepare("SELECT value FROM facts WHERE key = 'project_id'").pluck().get());
  } finally {
    database.close();
  }
}

export interface Leftovers {
  readonly containers: readonly string[];
  /** Without prepared dependencies, which outlive rooms on purpose. */
  readonly volumes: readonly string[];
  readonly dependencies: readonly string[];
  readonly roots: readonly string[];
}

export function leftoversOf(dir: string): Leftovers {
  const id = projectIdOf(dir);
  const filter = `label=dev.roundtable.project=${id}`;
  const sessions = path.join(dir, '.git/roundtable/sessions');
  const volumes = lines(['volume', 'ls', '--filter', filter, '--format', '{{.Name}}']);
  return {
    containers: lines(['ps', '--all', '--filter', filter, '--format', '{{.Names}}']),
    volumes: volumes.filter((name) => !name.includes('-deps-')),
    dependencies: volumes.filter((name) => name.includes('-deps-')),
    roots: existsSync(sessions) ? readdirSync(sessions) : [],
  };
}

/** Waits for what is being taken away at this moment; the failure names what stays. */
export async function expectNothingLeft(dir: string, deadlineMs = 20_000): Promise<void> {
  const until = Date.now() + deadlineMs;
  for (;;) {
    const { containers, volumes, roots } = leftoversOf(dir);
    if (containers.length + volumes.length + roots.length === 0) return;
    if (Date.now() > until) throw new Error(`left behind: ${JSON.stringify({ containers, volumes, roots })}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Containers of one kind that run now. */
export function roomsOf(dir: string, kind: 'session' | 'test' | 'prepare'): readonly string[] {
  const filters = [`label=dev.roundtable.project=${projectIdOf(dir)}`, `label=dev.roundtable.kind=${kind}`];
  return lines(['ps', ...filters.flatMap((filter) => ['--filter', filter]), '--format', '{{.Names}}']);
}

/** Takes the project's rooms and prepared dependencies off the engine, whatever state a failed test left them in. */
export async function clearProject(dir: string): Promise<void> {
  if (!existsSync(path.join(dir, '.git/roundtable/roundtable.db'))) return;
  await removeTestProject(testRuntime(), projectIdOf(dir));
}

function lines(args: readonly string[]): readonly string[] {
  const output = execFileSync('docker', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  return output.split('\n').filter((line) => line !== '');
}
