import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { PROGRAM, runProgram, type TemporaryRepository, temporaryRepository } from '../support/program.ts';

describe('the program on the command line', { timeout: 180_000 }, () => {
  let repository: TemporaryRepository | null = null;
  const fresh = (...options: readonly string[]): TemporaryRepository => {
    repository = temporaryRepository(...options);
    return repository;
  };
  const committed = (): TemporaryRepository => {
    const made = fresh();
    made.write('a.txt', 'alpha\n');
    made.git('add', '.');
    made.git('commit', '--quiet', '-m', 'Base');
    return made;
  };
  afterEach(() => {
    repository?.remove();
    repository = null;
  });

  it('answers its version, and a did-you-mean with exit code 2 for what it does not know', async () => {
    const { dir } = fresh();
    expect(await runProgram(dir, ['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
    const unknown = await runProgram(dir, ['proposal']);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringMatching(/proposals/) });
  });

  it('refuses what is no git repository, a bare one, and one that is not initialised', async () => {
    const { dir } = fresh();
    const outside = await runProgram('/', ['table']);
    expect(outside).toMatchObject({ code: 1, stderr: expect.stringMatching(/^error: .*git repository.*; /) });
    expect(await runProgram(dir, ['table', '--json'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('"code":"not_initialised"'),
    });
    repository?.remove();
    const bare = fresh('--bare');
    expect(await runProgram(bare.dir, ['init', '--json'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('"code":"bare_repository"'),
    });
  });

  it('says that a commit is needed before there can be a task', async () => {
    const { dir } = fresh();
    expect((await runProgram(dir, ['init', '--yes'])).code).toBe(0);
    expect(await runProgram(dir, ['task', 'Do something', '--json'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('"code":"no_commit"'),
    });
  });

  it('names file, line, column and the nearest key of a typo in the configuration', async () => {
    const { dir } = committed();
    await runProgram(dir, ['init', '--yes']);
    const file = path.join(dir, '.roundtable/config.yaml');
    const text = readFileSync(file, 'utf8');
    repository?.write('.roundtable/config.yaml', `${text}\nlimts: {max_sessions: 2}\n`);
    const answer = await runProgram(dir, ['table']);
    expect(answer.code).toBe(1);
    expect(answer.stderr).toMatch(/\.roundtable\/config\.yaml:\d+:\d+.*limts.*limits/);
  });

  it('refuses a scope that matches nothing and changes nothing', async () => {
    const { dir } = committed();
    await runProgram(dir, ['init', '--yes']);
    const before = await runProgram(dir, ['table', '--json']);
    const refused = await runProgram(dir, [
      'task',
      'add',
      'Do it',
      '--readable',
      'sorc/',
      '--writable',
      'sorc/x/',
      '--json',
    ]);
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining('"code":"scope_empty"') });
    const after = await runProgram(dir, ['table', '--json']);
    expect(JSON.parse(after.stdout).lastEventId).toBe(JSON.parse(before.stdout).lastEventId);
  });

  it('never runs an agent without a container engine: exit 1 with the remedy', async () => {
    const { dir } = committed();
    await runProgram(dir, ['init', '--yes']);
    const file = path.join(dir, '.roundtable/config.yaml');
    repository?.write(
      '.roundtable/config.yaml',
      readFileSync(file, 'utf8').replace(/image: null/, `image: sha256:${'0'.repeat(64)}`),
    );
    const run = await runProgram(dir, ['run', '--headless', '--goal', 'Change a', '--json'], {
      env: { DOCKER_HOST: 'unix:///nonexistent/docker.sock' },
    });
    expect(run.code).toBe(1);
    const summary = JSON.parse(run.stdout.trim().split('\n').at(-1) ?? '{}');
    expect(summary).toMatchObject({ type: 'summary', exit: 1, reason: expect.stringMatching(/Docker|Podman/) });
    expect(summary.tasks[0].status).toBe('open');
  });

  it('refuses an image by tag where the configuration is read', async () => {
    const { dir } = committed();
    await runProgram(dir, ['init', '--yes']);
    const file = path.join(dir, '.roundtable/config.yaml');
    repository?.write('.roundtable/config.yaml', readFileSync(file, 'utf8').replace(/image: null/, 'image: node:20'));
    expect(await runProgram(dir, ['config', 'check'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/image|digest/),
    });
  });

  it('works on a detached HEAD', async () => {
    const { dir, git } = committed();
    git('checkout', '--quiet', '--detach');
    await runProgram(dir, ['init', '--yes']);
    const added = await runProgram(dir, ['task', 'Change a', '--json']);
    expect(added.code).toBe(0);
    const runs = JSON.parse((await runProgram(dir, ['table', '--json'])).stdout).runs;
    expect(runs[0].targetRef).toBe('HEAD');
  });

  it('follows the events until it is interrupted, those of other processes too', async () => {
    const { dir } = committed();
    await runProgram(dir, ['init', '--yes']);
    const follower = spawn(process.execPath, [PROGRAM, 'events', '-f', '--json'], { cwd: dir });
    const ended = new Promise<number | null>((resolve) => follower.on('exit', resolve));
    let seen = '';
    const sawTask = new Promise<void>((resolve) => {
      follower.stdout.on('data', (chunk: Buffer) => {
        seen += chunk.toString();
        if (seen.includes('"task.open"')) resolve();
      });
    });
    expect((await runProgram(dir, ['task', 'Change a file', '--json'])).code).toBe(0);
    await Promise.race([sawTask, ended]);
    expect(seen).toContain('"task.open"');
    follower.kill('SIGINT');
    expect(await ended).toBe(130);
  });

  it('leaves a work tree as it was after init: only its own files are new', async () => {
    const { dir, git } = committed();
    await runProgram(dir, ['init', '--yes']);
    const names = git('status', '--porcelain', '--untracked-files=all')
      .split('\n')
      .map((line) => line.slice(3));
    expect(names.every((name) => /ROUNDTABLE|^\.roundtable\//.test(name))).toBe(true);
    expect(readdirSync(path.join(dir, '.git'))).toContain('roundtable');
  });
});
