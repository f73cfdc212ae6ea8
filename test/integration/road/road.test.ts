import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { containerTestsEnabled } from '../../support/container.ts';
import {
  approve,
  type RoadOptions,
  type RoadProject,
  roadProject,
  roadTask,
  untilSnapshot,
  value,
} from '../../support/road.ts';

describe.skipIf(!containerTestsEnabled())('the whole road', { timeout: 240_000 }, () => {
  let project: RoadProject | null = null;
  const start = async (options: RoadOptions): Promise<RoadProject> => {
    project = await roadProject(options);
    return project;
  };
  afterEach(async () => {
    await project?.dispose();
    project = null;
  });

  it('turns a task into an approved commit with exactly the agent’s change, and takes it back again', async () => {
    const road = await start({ agent: 'echo working on it\necho changed > src/a.txt\necho new > src/new.txt' });
    road.write('src/b.txt', 'beta, edited by the user and not committed\n');
    const base = road.git('rev-parse', 'HEAD');
    const engine = await road.open();
    value(
      await engine.command(
        'task.add',
        { runId: null, tasks: [roadTask('Change a', { writablePaths: ['src/'] })] },
        'operator',
      ),
    );

    const seen = await untilSnapshot(engine, ({ attention }) => attention.some((item) => item.kind === 'approval'));
    const [proposal] = seen.proposals;
    expect(proposal?.revision.touched).toEqual(['src/a.txt', 'src/new.txt']);
    expect(proposal?.gates.map((gate) => [gate.id, gate.status])).toEqual([
      ['base', 'passed'],
      ['scope', 'passed'],
      ['tests', 'passed'],
      ['human', 'pending'],
    ]);
    expect(road.git('rev-parse', 'HEAD')).toBe(base);
    const log = value(
      await engine.query('sessionLog', { sessionId: 'S-1', stream: 'stdout', fromByte: 0, maxBytes: 1000 }),
    );
    expect(log.text).toBe('working on it\n');

    const approved = value(await approve(engine, 'P-1', 1));
    expect(approved.applied).toBe(true);
    expect(road.git('diff', '--name-status', base, 'HEAD')).toBe('M\tsrc/a.txt\nA\tsrc/new.txt');
    expect(road.git('log', '-1', '--format=%an <%ae>')).toBe('Test Operator <operator@example.invalid>');
    const body = road.git('log', '-1', '--format=%B');
    expect(body).toMatch(/^Change a\n/);
    expect(body).toMatch(/Roundtable-Proposal: P-1 revision 1\n/);
    expect(body).toMatch(/Roundtable-Agent: implementer-1\n/);
    expect(body).toMatch(/Roundtable-Event: \d+:[0-9a-f]{64}/);
    expect(readFileSync(path.join(road.dir, 'src/a.txt'), 'utf8')).toBe('changed\n');
    expect(readFileSync(path.join(road.dir, 'src/b.txt'), 'utf8')).toBe('beta, edited by the user and not committed\n');
    expect(road.git('status', '--porcelain')).toBe('M src/b.txt');

    await untilSnapshot(engine, ({ runs }) => runs[0]?.status === 'completed');
    value(
      await engine.command(
        'transaction.rollback',
        { transactionId: 'TX-1', origin: 'scripted', reason: 'second thoughts' },
        'operator',
      ),
    );
    expect(road.git('diff', base, 'HEAD')).toBe('');
    expect(road.git('status', '--porcelain')).toBe('M src/b.txt');
    const after = await engine.query('snapshot', {});
    expect(after.proposals[0]?.status).toBe('reverted');
    expect(after.transactions.map(({ id, status }) => `${id} ${status}`)).toEqual(['TX-1 reverted', 'TX-2 applied']);
  });

  it('refuses an approval while a test fails, and lets the next attempt land', async () => {
    const road = await start({
      agent:
        'if grep -q "What happened before" "$1"; then grep -q kept src/extra.txt; echo good > src/a.txt; else echo bad > src/a.txt; echo kept > src/extra.txt; fi',
      config: 'limits: {max_sessions: 2, max_attempts: 2}\ntests: {required: [["grep", "-q", "good", "src/a.txt"]]}',
      policy: 'consensus:\n  default: {tests_required: true, human_approval_required: true}',
    });
    const engine = await road.open();
    value(await engine.command('task.add', { runId: null, tasks: [roadTask('Make it good')] }, 'operator'));
    await untilSnapshot(engine, ({ attention }) =>
      attention.some((item) => item.kind === 'failed_gate' && item.id === 'P-1'),
    );
    const refused = await approve(engine, 'P-1', 1);
    expect(refused).toMatchObject({
      ok: false,
      error: { code: 'gates_not_passed', message: expect.stringContaining('tests') },
    });
    value(
      await engine.command(
        'proposal.requestChanges',
        { proposalId: 'P-1', revision: 1, origin: 'scripted', message: 'make it good' },
        'operator',
      ),
    );
    const second = await untilSnapshot(
      engine,
      ({ proposals }) =>
        proposals[0]?.currentRevision === 2 &&
        proposals[0].gates.every((gate) => gate.id === 'human' || gate.status === 'passed'),
    );
    expect(second.proposals).toHaveLength(1);
    expect(value(await approve(engine, 'P-1', 2)).applied).toBe(true);
    expect(road.git('show', 'HEAD:src/a.txt')).toBe('good');
    // The second session went on from the first one's files.
    expect(road.git('show', 'HEAD:src/extra.txt')).toBe('kept');
  });

  it('fails the scope gate for a path that may be read but not written', async () => {
    const road = await start({
      agent: 'echo sneaky > docs/readme.md',
      config: 'limits: {max_sessions: 2, max_attempts: 1}\ntests: {required: [["true"]]}',
      policy: 'consensus:\n  default: {tests_required: true, human_approval_required: true}',
    });
    const engine = await road.open();
    value(
      await engine.command(
        'task.add',
        { runId: null, tasks: [roadTask('Write docs', { writablePaths: ['src/'] })] },
        'operator',
      ),
    );
    const seen = await untilSnapshot(engine, ({ attention }) => attention.some((item) => item.kind === 'failed_gate'));
    const scope = seen.proposals[0]?.gates.find((gate) => gate.id === 'scope');
    expect(scope).toMatchObject({ status: 'failed', detail: expect.stringContaining('docs/readme.md') });
    expect((await approve(engine, 'P-1', 1)).ok).toBe(false);
    // Tests that are not run must not keep the run from coming to rest.
    await untilSnapshot(engine, ({ runs }) => runs[0]?.status === 'blocked');
  });

  it('grafts an approved change onto a base that moved elsewhere, with the approval and without the test result', async () => {
    const road = await start({
      agent: 'echo changed > src/a.txt',
      config: 'limits: {max_sessions: 2, max_attempts: 1}\ntests: {required: [["true"]]}',
      policy: 'consensus:\n  default: {tests_required: true, human_approval_required: true}',
    });
    const engine = await road.open();
    value(
      await engine.command(
        'task.add',
        { runId: null, tasks: [roadTask('Change a', { writablePaths: ['src/a.txt'] })] },
        'operator',
      ),
    );
    await untilSnapshot(engine, ({ attention }) => attention.some((item) => item.kind === 'approval'));
    road.write('docs/readme.md', '# other work\n');
    const moved = road.commitAll('Other work');
    expect(value(await approve(engine, 'P-1', 1)).applied).toBe(true);
    expect(road.git('rev-parse', 'HEAD^')).toBe(moved);
    expect(road.git('diff', '--name-only', 'HEAD^', 'HEAD')).toBe('src/a.txt');
    const { proposals } = await engine.query('snapshot', {});
    expect(proposals[0]).toMatchObject({ currentRevision: 2, status: 'accepted' });
    expect(proposals[0]?.revision.source).toBe('graft');
    expect(proposals[0]?.approvals).toMatchObject([{ carriedFrom: 1, revision: 2 }]);
    expect(proposals[0]?.testRuns).toMatchObject([{ revision: 2, status: 'passed' }]);
  });

  it('refuses to apply over uncommitted edits in a touched path, and applies when asked again', async () => {
    const road = await start({ agent: 'echo changed > src/a.txt' });
    const engine = await road.open();
    value(await engine.command('task.add', { runId: null, tasks: [roadTask('Change a')] }, 'operator'));
    await untilSnapshot(engine, ({ attention }) => attention.some((item) => item.kind === 'approval'));
    road.write('src/a.txt', 'mine\n');
    const refused = await approve(engine, 'P-1', 1);
    expect(refused).toMatchObject({ ok: false, error: { code: 'worktree_dirty', details: { paths: ['src/a.txt'] } } });
    expect(readFileSync(path.join(road.dir, 'src/a.txt'), 'utf8')).toBe('mine\n');
    road.git('checkout', '--', 'src/a.txt');
    value(await engine.command('proposal.apply', { proposalId: 'P-1', origin: 'scripted' }, 'operator'));
    expect(road.git('show', 'HEAD:src/a.txt')).toBe('changed');
  });
});
