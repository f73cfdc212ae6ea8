import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createApplication } from '../../bin/compose.ts';
import type { Application, Engine, NewTask, Ownership, Snapshot } from '../../src/engine/api.ts';
import { testImage } from './container.ts';

/** A sample project in a temporary repository whose agent is a shell script that the test gives. */
export interface RoadProject {
  readonly dir: string;
  readonly app: Application;
  git(...args: readonly string[]): string;
  write(file: string, content: string | Buffer, mode?: number): void;
  commitAll(message: string): string;
  open(ownership?: Ownership): Promise<Engine>;
  /** Closes what is open and removes the repository. */
  dispose(): Promise<void>;
}

export interface RoadOptions {
  /** Body of a POSIX shell script; the prompt is in the file `$1`, the workspace is the current directory. */
  readonly agent: string;
  readonly files?: Readonly<Record<string, string | Buffer>>;
  /** Top-level keys of the configuration, as YAML text, besides agents and adapters. */
  readonly config?: string;
  readonly agents?: number;
  /** The fenced block of the policy. */
  readonly policy?: string;
}

const DEFAULT_FILES = { 'src/a.txt': 'alpha\n', 'src/b.txt': 'beta\n', 'docs/readme.md': '# docs\n' };

export async function roadProject(options: RoadOptions): Promise<RoadProject> {
  const image = await testImage();
  const dir = mkdtempSync(path.join(os.tmpdir(), 'rt-road-'));
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'core.hooksPath=/dev/null', ...args], {
      cwd: dir,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  const write = (file: string, content: string | Buffer, mode?: number): void => {
    mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    writeFileSync(path.join(dir, file), content);
    if (mode !== undefined) chmodSync(path.join(dir, file), mode);
  };
  const commitAll = (message: string): string => {
    git('add', '--all');
    git('commit', '--quiet', '--message', message);
    return git('rev-parse', 'HEAD');
  };
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Test Operator');
  git('config', 'user.email', 'operator@example.invalid');
  for (const [file, content] of Object.entries(options.files ?? DEFAULT_FILES)) write(file, content);
  write('tools/agent.sh', `set -eu\n${options.agent}\n`);
  write(
    'POLICIES.ROUNDTABLE.md',
    `# Policies\n\n\`\`\`yaml\n${options.policy ?? 'consensus:\n  default: {tests_required: false, human_approval_required: true}'}\n\`\`\`\n`,
  );
  write('.roundtable/config.yaml', configuration(image.imageId, options));
  commitAll('Base');

  const engines: Engine[] = [];
  const app = createApplication(process.env);
  return {
    dir,
    app,
    git,
    write,
    commitAll,
    async open(ownership = 'require') {
      const opened = await app.open({ directory: dir, ownership, command: 'test' });
      if (!opened.ok) throw new Error(`${opened.error.code}: ${opened.error.message}`);
      engines.push(opened.value);
      return opened.value;
    },
    async dispose() {
      for (const engine of engines) await engine.close('stop');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function configuration(imageId: string, options: RoadOptions): string {
  return [
    'version: 1',
    'project_name: road',
    options.config ?? 'limits: {max_sessions: 2, max_attempts: 1}',
    'agents:',
    `  implementers: {count: ${options.agents ?? 1}, adapter: script}`,
    'adapters:',
    '  script:',
    '    kind: generic',
    `    image: ${imageId}`,
    '    command: sh',
    '    args: ["/roundtable/source/tools/agent.sh", "{{prompt_file}}"]',
    '',
  ].join('\n');
}

export function roadTask(title: string, change: Partial<NewTask> = {}): NewTask {
  return {
    title,
    body: '',
    readablePaths: ['.'],
    writablePaths: ['.'],
    risk: 'normal',
    priority: 0,
    role: 'Implementer',
    agentId: null,
    dependsOn: [],
    expectedTests: [],
    ...change,
  };
}

/** The first snapshot that satisfies `holds`, looked for until the deadline; the failure shows the last one. */
export async function untilSnapshot(
  engine: Engine,
  holds: (snapshot: Snapshot) => boolean,
  deadlineMs = 120_000,
): Promise<Snapshot> {
  const until = Date.now() + deadlineMs;
  for (;;) {
    const snapshot = await engine.query('snapshot', {});
    if (holds(snapshot)) return snapshot;
    if (Date.now() > until) {
      const { runs, tasks, sessions, proposals, transactions } = snapshot;
      throw new Error(
        `not reached in ${deadlineMs} ms; last seen: ${JSON.stringify({ runs, tasks, sessions, proposals, transactions }, null, 1)}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Takes the value out, or fails the test with the refusal. */
export function value<T>(
  result:
    | { readonly ok: true; readonly value: T }
    | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } },
): T {
  if (result.ok) return result.value;
  throw new Error(`${result.error.code}: ${result.error.message}`);
}

/** Approves the current revision the way a script that is allowed to would. */
export async function approve(engine: Engine, proposalId: string, revision: number) {
  return engine.command('proposal.approve', { proposalId, revision, origin: 'scripted', note: null }, 'operator');
}
