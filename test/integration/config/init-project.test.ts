import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promises as fs } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type InitRequest, initProject } from '../../../src/engine/config/init/init-project.ts';
import { nodePlacingFs } from '../../../src/engine/config/init/node-placing-fs.ts';
import type { PlacingFs } from '../../../src/engine/config/init/place-files.ts';
import { loadConfig } from '../../../src/engine/config/load-config.ts';
import { loadPolicy } from '../../../src/engine/config/policy.ts';
import { parseTaskFile } from '../../../src/engine/config/task-file.ts';
import type { ProjectFacts } from '../../../src/engine/ports/project-facts.ts';
import { createProjectFacts } from '../../../src/engine/repo/project-facts.ts';

const templatesDir = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../templates');
const FILES = [
  'AGENTS.ROUNDTABLE.md',
  'PROJECT.ROUNDTABLE.md',
  'POLICIES.ROUNDTABLE.md',
  'TASKS.ROUNDTABLE/0001-bootstrap.md',
  '.roundtable/config.yaml',
  '.roundtable/memory/README.md',
  '.roundtable/config.schema.json',
  '.roundtable/mcp/README.md',
  '.roundtable/mcp/manifest.json',
  '.roundtable/generated.json',
];

let home: string;
let repo: string;
let environment: Record<string, string | undefined>;

beforeEach(async () => {
  home = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'rt-init-')));
  repo = path.join(home, 'demo');
  await fs.mkdir(path.join(home, 'bin'));
  await fs.mkdir(repo);
  environment = {
    PATH: `${path.join(home, 'bin')}:${process.env.PATH}`,
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: path.join(home, '.gitconfig'),
  };
  await fs.writeFile(
    path.join(home, '.gitconfig'),
    '[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n',
  );
  git('init', '-q');
  await write('README.md', 'hello\n');
  git('add', '.');
  git('commit', '-qm', 'first');
});

afterEach(async () => {
  await fs.rm(home, { recursive: true, force: true });
});

function git(...args: string[]): string {
  return execFileSync('git', args, {
    cwd: repo,
    env: environment as NodeJS.ProcessEnv,
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

async function write(name: string, text: string): Promise<void> {
  await fs.mkdir(path.dirname(path.join(repo, name)), { recursive: true });
  await fs.writeFile(path.join(repo, name), text);
}

const read = (name: string) => fs.readFile(path.join(repo, name), 'utf8');

function init(
  request: Partial<InitRequest> = {},
  placing: PlacingFs = nodePlacingFs,
  facts: ProjectFacts = createProjectFacts(environment),
) {
  const deps = {
    facts,
    templatesDir,
    environment,
    now: () => '2026-01-02T03:04:05.678Z',
    placing,
  };
  return initProject(deps, { directory: repo, force: false, refreshGenerated: false, ...request });
}

async function initOk(request: Partial<InitRequest> = {}) {
  const result = await init(request);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

/** Every path below the repository (without .git's insides) with its kind and contents. */
async function photograph(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await fs.readdir(repo, { recursive: true, withFileTypes: true })) {
    const full = path.join(entry.parentPath, entry.name);
    const name = path.relative(repo, full);
    if (name === '.git' || (name.startsWith('.git/') && !name.startsWith('.git/roundtable'))) continue;
    found[name] = entry.isFile()
      ? createHash('sha256')
          .update(await fs.readFile(full))
          .digest('hex')
      : 'not a file';
  }
  return found;
}

describe('init', () => {
  it('writes everything, and what it writes is valid', async () => {
    const report = await initOk();
    expect(report.root).toBe(repo);
    expect(report.stateDir).toBe(path.join(repo, '.git/roundtable'));
    expect((await fs.stat(report.stateDir)).mode & 0o777).toBe(0o700);
    expect([...report.created].sort()).toEqual([...FILES].sort());
    expect(report.kept).toEqual([]);
    const text = await read('.roundtable/config.yaml');
    const config = loadConfig({ file: 'c', text, directoryName: 'x', processors: 2 });
    expect(config.problems).toEqual([]);
    expect(config.config?.agents.map((agent) => agent.id)).toEqual(['implementer-1']);
    expect(config.config?.project_name).toBe('demo');
    expect(config.config?.adapters.generic).toMatchObject({ kind: 'generic', image: null });
    expect(loadPolicy('p', await read('POLICIES.ROUNDTABLE.md')).policy).toEqual({
      testsRequired: false,
      humanApprovalRequired: true,
    });
    expect(parseTaskFile('t', await read('TASKS.ROUNDTABLE/0001-bootstrap.md')).ok).toBe(true);
    for (const file of FILES) expect(await read(file)).not.toContain('%%');
    expect((await fs.readdir(repo)).filter((name) => name.startsWith('.roundtable-init'))).toEqual([]);
  });

  it('goes to the top from a subdirectory', async () => {
    await fs.mkdir(path.join(repo, 'src/deep'), { recursive: true });
    expect((await initOk({ directory: path.join(repo, 'src/deep') })).root).toBe(repo);
  });

  it('shares the state between linked worktrees', async () => {
    git('worktree', 'add', '-q', '../linked');
    const report = await initOk({ directory: path.join(home, 'linked') });
    expect(report.root).toBe(path.join(home, 'linked'));
    expect(report.stateDir).toBe(path.join(repo, '.git/roundtable'));
  });

  it('works before the first commit and says what is missing', async () => {
    await fs.rm(path.join(repo, '.git'), { recursive: true });
    git('init', '-q');
    const report = await initOk();
    expect(report.detected[0]).toBe('branch: main, without a commit yet');
    expect(report.next.join('\n')).toContain('make the first commit');
  });

  it('says how to set a missing identity', async () => {
    await fs.writeFile(path.join(home, '.gitconfig'), '');
    const { detected, next } = await initOk();
    expect(detected).toContain('git identity: none');
    expect(next[0]).toContain('git config user.name');
    expect(next[1]).toContain('git config user.email');
  });

  it('sees who commits and whether commits are signed', async () => {
    git('config', 'commit.gpgsign', 'true');
    expect((await initOk()).detected).toContain('git identity: Ada <ada@example.com>, commits are signed');
  });

  const refusals: readonly [string, () => string, string][] = [
    [
      'a bare repository',
      () => {
        git('clone', '-q', '--bare', '.', '../bare.git');
        return path.join(home, 'bare.git');
      },
      'bare_repository',
    ],
    ['a directory without a repository', () => home, 'not_a_repository'],
    ['the git directory', () => path.join(repo, '.git'), 'not_a_repository'],
  ];
  it.each(refusals)('is refused in %s', async (_, where, code) => {
    const result = await init({ directory: where() });
    expect(result).toMatchObject({ ok: false, error: { code } });
  });

  it('is not led elsewhere by variables of git', async () => {
    environment.GIT_DIR = path.join(home, 'nowhere');
    environment.GIT_WORK_TREE = home;
    expect((await initOk()).root).toBe(repo);
  });
});

describe('what init detects', () => {
  const cases: readonly { why: string; files: Record<string, string>; tests: string; config: string }[] = [
    {
      why: 'npm',
      files: { 'package.json': '{"scripts":{"test":"node --test"}}', 'package-lock.json': '{}' },
      tests: 'npm test (package.json)',
      config: 'required: [["npm","test"]]',
    },
    {
      why: 'the declared package manager',
      files: { 'package.json': '{"scripts":{"test":"x"},"packageManager":"pnpm@9.0.0"}' },
      tests: 'pnpm test (package.json)',
      config: '# prepare: {argv: ["pnpm"',
    },
    {
      why: 'the placeholder of npm',
      files: { 'package.json': '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}' },
      tests: 'none found',
      config: 'required: []',
    },
    { why: 'a broken package.json', files: { 'package.json': '{' }, tests: 'none found', config: 'required: []' },
    {
      why: 'make',
      files: { Makefile: 'all:\n\ttrue\ntest: all\n\t./t\n' },
      tests: 'make test (Makefile)',
      config: '["make","test"]',
    },
    { why: 'a make variable', files: { Makefile: 'test := 1\nall:\n' }, tests: 'none found', config: 'required: []' },
    { why: 'go', files: { 'go.mod': 'module x\n' }, tests: 'go test ./... (go.mod)', config: '["go","test","./..."]' },
    { why: 'cargo', files: { 'Cargo.toml': '' }, tests: 'cargo test (Cargo.toml)', config: '["cargo","test"]' },
    {
      why: 'pytest',
      files: { 'pyproject.toml': '[tool.pytest.ini_options]\n' },
      tests: 'python3 -m pytest (pyproject.toml)',
      config: '["python3","-m","pytest"]',
    },
  ];
  it.each(cases)('with $why', async ({ files, tests, config }) => {
    for (const [name, text] of Object.entries(files)) await write(name, text);
    const { detected } = await initOk();
    expect(detected).toContain(`test command: ${tests}`);
    expect(await read('.roundtable/config.yaml')).toContain(config);
    const policy = loadPolicy('p', await read('POLICIES.ROUNDTABLE.md')).policy;
    expect(policy?.testsRequired).toBe(tests !== 'none found');
    const text = await read('.roundtable/config.yaml');
    expect(loadConfig({ file: 'c', text, directoryName: 'x', processors: 2 }).problems).toEqual([]);
  });

  it('names agent programs and leaves commented blocks for them', async () => {
    await fs.writeFile(path.join(home, 'bin/codex'), '#!/bin/sh\n', { mode: 0o755 });
    await fs.writeFile(path.join(home, 'bin/gemini'), 'not executable', { mode: 0o644 });
    const { detected } = await initOk();
    const programs = detected.find((line) => line.startsWith('agent programs'));
    expect(programs).toContain('codex');
    expect(programs).not.toContain('gemini');
    expect(await read('.roundtable/config.yaml')).toContain('  # codex:\n  #   kind: codex\n');
  });

  it('writes a valid file for a directory with an odd name', async () => {
    const odd = path.join(home, 'a: "b" # c');
    await fs.rename(repo, odd);
    repo = odd;
    await initOk();
    const text = await read('.roundtable/config.yaml');
    expect(loadConfig({ file: 'c', text, directoryName: 'x', processors: 2 }).config?.project_name).toBe('a: "b" # c');
  });
});

describe('what is there already', () => {
  it('is kept and listed', async () => {
    await write('PROJECT.ROUNDTABLE.md', 'mine\n');
    const report = await initOk();
    expect(report.kept).toEqual(['PROJECT.ROUNDTABLE.md']);
    expect(report.created).toHaveLength(FILES.length - 1);
    expect(await read('PROJECT.ROUNDTABLE.md')).toBe('mine\n');
  });

  it('stays as it is when init runs again', async () => {
    await initOk();
    const before = await photograph();
    const again = await initOk();
    expect(again.created).toEqual([]);
    expect(await photograph()).toEqual(before);
  });

  it('is backed up before --force replaces it', async () => {
    await write('PROJECT.ROUNDTABLE.md', 'mine\n');
    const report = await initOk({ force: true });
    expect(report.backedUp).toEqual([
      { path: 'PROJECT.ROUNDTABLE.md', backup: 'PROJECT.ROUNDTABLE.md.bak-20260102T030405Z' },
    ]);
    expect(await read('PROJECT.ROUNDTABLE.md.bak-20260102T030405Z')).toBe('mine\n');
    expect(await read('PROJECT.ROUNDTABLE.md')).toContain('# demo');
  });

  it('keeps a symlink, even with --force', async () => {
    await fs.symlink('README.md', path.join(repo, 'PROJECT.ROUNDTABLE.md'));
    const report = await initOk({ force: true });
    expect(report.kept).toEqual(['PROJECT.ROUNDTABLE.md']);
    expect(await read('README.md')).toBe('hello\n');
  });

  it('is not written through a symlinked directory', async () => {
    const outside = path.join(home, 'outside');
    await fs.mkdir(outside);
    await fs.symlink(outside, path.join(repo, '.roundtable'));
    const before = await photograph();
    const result = await init();
    expect(result).toMatchObject({ ok: false, error: { code: 'storage_failed' } });
    if (!result.ok) expect(result.error.message).toContain('.roundtable is not a directory');
    expect(await fs.readdir(outside)).toEqual([]);
    expect(await photograph()).toEqual(before);
  });

  it('is refreshed only where it is generated and nobody edited it', async () => {
    await initOk();
    const manifest = JSON.parse(await read('.roundtable/generated.json')) as { files: Record<string, string> };
    // As an older version left it: other contents, recorded as generated.
    await write('.roundtable/mcp/README.md', 'older\n');
    manifest.files['.roundtable/mcp/README.md'] = createHash('sha256').update('older\n').digest('hex');
    await write('.roundtable/generated.json', JSON.stringify(manifest));
    await write('.roundtable/config.schema.json', '{"edited": true}\n');
    await write('PROJECT.ROUNDTABLE.md', 'mine\n');

    await initOk();
    expect(await read('.roundtable/mcp/README.md')).toBe('older\n');

    const report = await initOk({ refreshGenerated: true });
    expect(await read('.roundtable/mcp/README.md')).toContain('# MCP');
    expect(await read('.roundtable/config.schema.json')).toBe('{"edited": true}\n');
    expect(await read('PROJECT.ROUNDTABLE.md')).toBe('mine\n');
    expect(report.kept).toContain('.roundtable/config.schema.json');
    expect(report.backedUp).toEqual([]);
  });
});

describe('a failure at any step', () => {
  const METHODS = ['mkdtemp', 'mkdir', 'writeNew', 'link', 'rename'] as const;

  /** Fails the n-th call that changes something; answers how many there were. */
  function failing(at: number): { fs: PlacingFs; calls: () => number } {
    let calls = 0;
    const fsWithFault = { ...nodePlacingFs };
    for (const method of METHODS) {
      const real = nodePlacingFs[method] as (...args: string[]) => Promise<never>;
      Object.assign(fsWithFault, {
        [method]: async (...args: string[]) => {
          calls += 1;
          if (calls === at) throw Object.assign(new Error(`ENOSPC: injected at ${method}`), { code: 'ENOSPC' });
          return real(...args);
        },
      });
    }
    return { fs: fsWithFault, calls: () => calls };
  }

  it('leaves everything as it was, also with --force and --refresh-generated', async () => {
    await write('PROJECT.ROUNDTABLE.md', 'mine\n');
    await write('TASKS.ROUNDTABLE/0001-bootstrap.md', 'my task\n');
    await write('.roundtable/mcp/README.md', 'older\n');
    const recorded = { files: { '.roundtable/mcp/README.md': createHash('sha256').update('older\n').digest('hex') } };
    await write('.roundtable/generated.json', JSON.stringify(recorded));
    const before = await photograph();
    // Asked once: what git says does not change here, and this runs init some thirty times.
    const answer = await createProjectFacts(environment).read(repo);
    let at = 1;
    for (; ; at++) {
      const fault = failing(at);
      const result = await init({ force: true, refreshGenerated: true }, fault.fs, { read: async () => answer });
      if (fault.calls() < at) {
        expect(result.ok).toBe(true);
        break;
      }
      if (result.ok) throw new Error(`step ${at} failed and init did not notice`);
      expect(result.error.code).toBe('storage_failed');
      expect(result.error.message).toContain('nothing was changed');
      expect(await photograph()).toEqual(before);
    }
    // One mkdtemp, and per file a write and a link at least.
    expect(at).toBeGreaterThan(2 * FILES.length);
    expect(await read('TASKS.ROUNDTABLE/0001-bootstrap.md')).toContain('title:');
  });

  it('never touches a file that appeared meanwhile', async () => {
    const racing: PlacingFs = {
      ...nodePlacingFs,
      link: async (existing, created) => {
        if (created.endsWith('config.yaml')) await fs.writeFile(created, 'theirs\n');
        return nodePlacingFs.link(existing, created);
      },
    };
    const result = await init({}, racing);
    expect(result.ok).toBe(false);
    expect(await read('.roundtable/config.yaml')).toBe('theirs\n');
    expect(await fs.readdir(repo)).not.toContain('PROJECT.ROUNDTABLE.md');
  });

  it('says what could not be undone', async () => {
    const stuck: PlacingFs = {
      ...failing(FILES.length + 6).fs,
      unlink: async () => {
        throw new Error('EROFS: injected');
      },
    };
    const result = await init({}, stuck);
    if (result.ok) throw new Error('succeeded');
    expect(result.error.message).toContain('not undone: remove ');
  });
});
