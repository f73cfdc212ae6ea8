import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { containerTestsEnabled } from '../support/container.ts';
import { runProgram } from '../support/program.ts';
import { type RoadOptions, type RoadProject, roadProject } from '../support/road.ts';

const NO_HUMAN = 'consensus:\n  default: {tests_required: false, human_approval_required: false}';

describe.skipIf(!containerTestsEnabled())('runs without a screen', { timeout: 240_000 }, () => {
  let project: RoadProject | null = null;
  const start = async (options: RoadOptions): Promise<RoadProject> => {
    project = await roadProject(options);
    return project;
  };
  afterEach(async () => {
    await project?.dispose();
    project = null;
  });
  const run = async (dir: string, ...args: readonly string[]) => {
    const result = await runProgram(dir, ['run', '--headless', '--json', ...args]);
    const lines = result.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; exit?: number; event?: { id: number; type: string } });
    return { ...result, events: lines.filter((line) => line.type === 'event'), summary: lines.at(-1) };
  };

  it('lands what the policy lets land, exit 0, with every event once and the summary last', async () => {
    const { dir, git } = await start({ agent: 'echo changed > src/a.txt', policy: NO_HUMAN });
    const { code, events, summary } = await run(dir, '--goal', 'Change a', '--approve', 'policy');
    expect(summary).toMatchObject({
      type: 'summary',
      exit: 0,
      run: { status: 'completed' },
      tasks: [{ status: 'done' }],
      proposals: [{ id: 'P-1', status: 'accepted' }],
      transactions: [{ id: 'TX-1', status: 'applied' }],
    });
    expect(code).toBe(0);
    const ids = events.map((line) => line.event?.id ?? 0);
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
    expect(events.map((line) => line.event?.type)).toEqual(
      expect.arrayContaining(['run.active', 'session.succeeded', 'transaction.applied', 'run.completed']),
    );
    expect(git('show', 'HEAD:src/a.txt')).toBe('changed');
  });

  it('waits for the operator with exit 3, applies nothing with --approve never, and goes on with --resume', async () => {
    const { dir, git } = await start({ agent: 'echo changed > src/a.txt', policy: NO_HUMAN });
    const base = git('rev-parse', 'HEAD');
    const first = await run(dir, '--goal', 'Change a', '--approve', 'never');
    expect(first).toMatchObject({
      code: 3,
      summary: { exit: 3, run: { status: 'blocked' }, proposals: [{ status: 'in_review' }] },
    });
    expect(git('rev-parse', 'HEAD')).toBe(base);
    const second = await run(dir, '--resume', '--approve', 'policy');
    expect(second).toMatchObject({ code: 0, summary: { proposals: [{ status: 'accepted' }] } });
  });

  it('says why an approved change could not be applied, and waits with exit 3', async () => {
    const { dir, git, write } = await start({ agent: 'echo changed > src/a.txt', policy: NO_HUMAN });
    const base = git('rev-parse', 'HEAD');
    write('src/a.txt', 'mine\n');
    const blocked = await run(dir, '--goal', 'Change a');
    expect(blocked).toMatchObject({
      code: 3,
      summary: {
        exit: 3,
        proposals: [{ status: 'approved', reason: expect.stringMatching(/src\/a\.txt|uncommitted/) }],
      },
    });
    expect(git('rev-parse', 'HEAD')).toBe(base);
    expect(readFileSync(path.join(dir, 'src/a.txt'), 'utf8')).toBe('mine\n');
  });

  it('ends with 4 when a task failed and with 5 at a limit, resumable', async () => {
    const { dir } = await start({
      agent: 'grep -q "Good task" "$1" && echo changed > src/a.txt || exit 7',
      policy: NO_HUMAN,
    });
    const failed = await run(dir, '--goal', 'Bad task');
    expect(failed).toMatchObject({
      code: 4,
      summary: { tasks: [{ status: 'failed', reason: expect.stringContaining('exit code 7') }] },
    });
    project?.write('t1.md', '---\ntitle: Good task one\n---\n');
    project?.write('t2.md', '---\ntitle: Good task two\ndepends_on: [t1]\n---\n');
    const limited = await run(dir, '--task', 't1.md', '--task', 't2.md', '--max-iterations', '1');
    expect(limited).toMatchObject({ code: 5, summary: { run: { status: 'stopped' } } });
  });

  it('tells the demo’s story to its end and leaves nothing behind', async () => {
    const home = mkdtempSync(path.join(os.tmpdir(), 'rt-demo-'));
    try {
      const demo = await runProgram(home, ['demo', '--headless', '--json', '--yes'], {
        env: { TMPDIR: home },
        timeoutMs: 200_000,
      });
      const summary = JSON.parse(demo.stdout.trim().split('\n').at(-1) ?? '{}');
      expect(summary).toMatchObject({ type: 'summary', exit: 0, run: { status: 'completed' } });
      expect(summary.proposals.map((proposal: { status: string }) => proposal.status).toSorted()).toEqual([
        'accepted',
        'accepted',
        'rejected',
        'reverted',
      ]);
      expect(demo.code).toBe(0);
      expect(readdirSync(home)).toEqual([]);
      // The demo's image is its own: whatever is made from it belongs to a demo.
      const rooms = execFileSync(
        'docker',
        ['ps', '--all', '--quiet', '--filter', 'ancestor=roundtable-local/scripted'],
        { encoding: 'utf8' },
      );
      expect(rooms).toBe('');
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
});
