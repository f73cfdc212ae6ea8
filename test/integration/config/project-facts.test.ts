import { execFileSync } from 'node:child_process';
import { promises as fs } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProjectFacts } from '../../../src/engine/repo/project-facts.ts';

let home: string;
let environment: Record<string, string | undefined>;

beforeEach(async () => {
  home = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'rt-facts-')));
  environment = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
  await fs.writeFile(path.join(home, '.gitconfig'), '[user]\n\tname = Ada\n\temail = ada@example.com\n');
});

afterEach(() => fs.rm(home, { recursive: true, force: true }));

function git(directory: string, ...args: string[]): string {
  const env = environment as NodeJS.ProcessEnv;
  return execFileSync('git', args, { cwd: directory, env, encoding: 'utf8', stdio: 'pipe' }).trim();
}

async function repository(name: string, ...options: string[]): Promise<string> {
  const directory = path.join(home, name);
  git(home, 'init', '-q', '-b', 'main', ...options, directory);
  await fs.writeFile(path.join(directory, 'a'), 'a');
  git(directory, 'add', '.');
  git(directory, 'commit', '-qm', 'one');
  git(directory, 'commit', '-qm', 'two', '--allow-empty');
  return directory;
}

async function facts(directory: string) {
  const read = await createProjectFacts(environment).read(directory);
  if (!read.ok) throw new Error(read.error.message);
  return read.value;
}

describe('facts about a repository', () => {
  it('are those that git knows', async () => {
    const directory = await repository('plain');
    const found = await facts(directory);
    expect(found).toMatchObject({
      topLevel: directory,
      gitDir: path.join(directory, '.git'),
      commonDir: path.join(directory, '.git'),
      headCommit: git(directory, 'rev-parse', 'HEAD'),
      branch: 'main',
      isShallow: false,
      objectFormat: 'sha1',
      identity: { name: 'Ada', email: 'ada@example.com', signs: false },
    });
    expect(found.gitVersion[0]).toBeGreaterThanOrEqual(2);
  });

  it('tell SHA-256, shallow clones, detached heads and linked worktrees apart', async () => {
    const wide = await repository('wide', '--object-format=sha256');
    expect(await facts(wide)).toMatchObject({
      objectFormat: 'sha256',
      headCommit: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    git(home, 'clone', '-q', '--depth=1', `file://${wide}`, 'shallow');
    expect((await facts(path.join(home, 'shallow'))).isShallow).toBe(true);
    git(wide, 'worktree', 'add', '-q', '--detach', path.join(home, 'linked'));
    expect(await facts(path.join(home, 'linked'))).toMatchObject({
      branch: null,
      topLevel: path.join(home, 'linked'),
      gitDir: path.join(wide, '.git/worktrees/linked'),
      commonDir: path.join(wide, '.git'),
    });
  });

  it('take the committer from where git takes him', async () => {
    const directory = await repository('plain');
    environment.GIT_COMMITTER_NAME = 'Grace';
    expect((await facts(directory)).identity).toEqual({ name: 'Grace', email: 'ada@example.com', signs: false });
  });

  it('run nothing that the repository names', async () => {
    const directory = await repository('plain');
    const trap = path.join(home, 'trap');
    await fs.writeFile(trap, `#!/bin/sh\ntouch ${home}/sprung\n`, { mode: 0o755 });
    git(directory, 'config', 'core.fsmonitor', trap);
    git(directory, 'config', 'core.hooksPath', home);
    await facts(directory);
    await expect(fs.access(path.join(home, 'sprung'))).rejects.toThrow();
  });

  it('are an error with a code where there are none', async () => {
    const read = (directory: string) => createProjectFacts(environment).read(directory);
    expect(await read(home)).toMatchObject({ ok: false, error: { code: 'not_a_repository' } });
    const directory = await repository('plain');
    environment.PATH = home;
    expect(await read(directory)).toMatchObject({ ok: false, error: { code: 'git_missing' } });
  });
});
