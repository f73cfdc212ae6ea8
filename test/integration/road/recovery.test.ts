import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createApplication } from '../../../bin/compose.ts';
import { ERRORS } from '../../../src/engine/domain/errors.ts';
import { run as killSupervisors } from '../../soak/supervisor-kills.ts';
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
import { clearProject, expectNothingLeft, leftoversOf, roomsOf } from '../../support/road-leftovers.ts';
import { type RoadOwner, removeChildBundle, spawnRoadOwner } from '../../support/road-owner.ts';

const SMALL = 'sandbox: {memory_mib: 256, workspace_mib: 32, temp_mib: 16, home_mib: 16}';
/** Waits on its first attempt in a project, so that it can be interrupted; goes through on later ones. */
const SLOW_FIRST =
  'if [ "$(head -n 1 "$1")" = quick ] || grep -q "What happened before" "$1"; then echo done > src/a.txt; else echo half > src/half.txt; echo begun; sleep 600; fi';

describe.skipIf(!containerTestsEnabled())('an engine that ends', { timeout: 300_000 }, () => {
  let road: RoadProject | null = null;
  let owner: RoadOwner | null = null;
  const start = async (options: RoadOptions): Promise<RoadProject> => {
    road = await roadProject(options);
    return road;
  };
  const ownerOf = async (project: RoadProject): Promise<RoadOwner> => {
    owner = await spawnRoadOwner({ directory: project.dir, ownership: 'require' });
    await owner.ready();
    return owner;
  };
  afterEach(async () => {
    await owner?.kill();
    if (road) await clearProject(road.dir);
    await road?.dispose();
    road = null;
    owner = null;
  });
  afterAll(removeChildBundle);

  const until = async (holds: () => boolean, what: string): Promise<void> => {
    const deadline = Date.now() + 90_000;
    while (!holds()) {
      if (Date.now() > deadline) throw new Error(`never came: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const LOG = (project: RoadProject, name: string): string => path.join(project.dir, '.git/roundtable/logs', name);

  it('leaves a session that was killed in the middle orphaned, its files kept, and its task to the next engine', async () => {
    const project = await start({ agent: SLOW_FIRST, config: `limits: {max_sessions: 2, max_attempts: 2}\n${SMALL}` });
    const client = await project.open('never');
    const first = await ownerOf(project);
    const { taskIds } = value(
      await client.command('task.add', { runId: null, tasks: [roadTask('interrupted')] }, 'operator'),
    );
    await until(() => existsSync(LOG(project, 'S-1.stdout.log')), 'the log of S-1');
    await until(() => readFileSync(LOG(project, 'S-1.stdout.log'), 'utf8') === 'begun\n', 'the agent’s first word');

    // Two owners at once: the second is a client that sees who it is, or is told.
    const second = await project.open('prefer');
    expect((await second.query('snapshot', {})).engine).toMatchObject({ role: 'client', owner: { pid: first.pid } });
    const refused = await project.app.open({ directory: project.dir, ownership: 'require', command: 'test' });
    expect(refused).toMatchObject({
      ok: false,
      error: { code: 'engine_owned', message: expect.stringContaining(String(first.pid)) },
    });
    expect(ERRORS.engine_owned.exit).toBe(6);

    await first.kill();
    expect(leftoversOf(project.dir)).toMatchObject({ containers: { length: 1 }, volumes: { length: 3 } });
    expect((await client.query('snapshot', {})).engine).toMatchObject({ role: 'client', owner: null });
    const engine = await project.open();
    const seen = await engine.query('snapshot', {});
    expect(seen.sessions[0]).toMatchObject({
      id: 'S-1',
      status: 'orphaned',
      statusReason: 'the engine ended while it ran',
      endedAt: expect.any(String),
    });
    expect(readFileSync(LOG(project, 'S-1.workspace.tar')).includes('half\n')).toBe(true);
    const waiting = await untilSnapshot(engine, ({ attention }) => attention.some((item) => item.kind === 'approval'));
    expect(waiting.tasks.find((task) => task.id === taskIds[0])).toMatchObject({ status: 'in_review', attempts: 1 });
    await expectNothingLeft(project.dir);
    expect(value(await approve(engine, 'P-1', 1)).applied).toBe(true);
    expect(project.git('show', 'HEAD:src/a.txt')).toBe('done');
    await untilSnapshot(engine, ({ runs }) => runs[0]?.status === 'completed');
  });

  it('cancels a test that was killed in the middle and runs it again; an approval of a client is applied by the owner', async () => {
    const project = await start({
      agent: 'echo done > src/a.txt',
      config: `limits: {max_sessions: 2, max_attempts: 1}\n${SMALL}\ntests: {required: [["sleep", "4"]]}`,
      policy: 'consensus:\n  default: {tests_required: true, human_approval_required: true}',
    });
    const client = await project.open('never');
    const first = await ownerOf(project);
    value(await client.command('task.add', { runId: null, tasks: [roadTask('tested')] }, 'operator'));
    await until(() => roomsOf(project.dir, 'test').length > 0, 'the room of the test');
    await first.kill();
    const second = await ownerOf(project);
    const seen = await untilSnapshot(client, ({ attention }) => attention.some((item) => item.kind === 'approval'));
    expect(seen.proposals[0]?.testRuns).toMatchObject([
      { status: 'cancelled', detail: 'the engine ended while it ran', endedAt: expect.any(String) },
      { status: 'passed' },
    ]);
    await expectNothingLeft(project.dir);
    expect(value(await approve(client, 'P-1', 1)).applied).toBe(true);
    expect(project.git('show', 'HEAD:src/a.txt')).toBe('done');
    const { transactions } = await client.query('snapshot', {});
    expect(transactions.map(({ status }) => status)).toEqual(['applied']);
    await second.end();
  });

  it('prepares again what was killed while it was prepared', async () => {
    const project = await start({
      agent: 'cat deps/ready > src/a.txt',
      files: { 'src/a.txt': 'alpha\n', '.gitignore': 'deps/\n', 'prepare.sh': 'sleep 3; echo prepared > deps/ready\n' },
      config: `limits: {max_sessions: 2, max_attempts: 2}\n${SMALL}\ntests: {prepare: {argv: [sh, prepare.sh], dir: deps}}`,
    });
    const client = await project.open('never');
    const first = await ownerOf(project);
    value(await client.command('task.add', { runId: null, tasks: [roadTask('prepared')] }, 'operator'));
    await until(() => roomsOf(project.dir, 'prepare').length > 0, 'the room of the preparation');
    await first.kill();
    const engine = await project.open();
    const seen = await untilSnapshot(engine, ({ attention }) => attention.some((item) => item.kind === 'approval'));
    expect(seen.sessions.map(({ status }) => status)).toEqual(['orphaned', 'succeeded']);
    expect(value(await approve(engine, 'P-1', 1)).applied).toBe(true);
    expect(project.git('show', 'HEAD:src/a.txt')).toBe('prepared');
    await expectNothingLeft(project.dir);
    expect(leftoversOf(project.dir).dependencies).toHaveLength(2);
  });

  it('stops a session and a preparation at once, without counting the attempt, and goes on at the next start', async () => {
    const project = await start({
      agent: 'if [ "$(cat src/b.txt)" = beta ]; then echo begun; sleep 600; else echo done > src/a.txt; fi',
      config: `limits: {max_sessions: 2, max_attempts: 1}\n${SMALL}`,
    });
    const first = await project.open();
    value(await first.command('task.add', { runId: null, tasks: [roadTask('given back')] }, 'operator'));
    await untilSnapshot(first, ({ sessions }) => sessions[0]?.status === 'running');
    await first.close('stop');
    await expectNothingLeft(project.dir);
    const client = await project.open('never');
    const stopped = await client.query('snapshot', {});
    expect(stopped.sessions).toMatchObject([{ status: 'cancelled', statusReason: 'the engine stopped' }]);
    expect(stopped.tasks).toMatchObject([{ status: 'open', attempts: 0, feedback: null }]);

    project.write(
      '.roundtable/config.yaml',
      `${readFileSync(path.join(project.dir, '.roundtable/config.yaml'), 'utf8')}tests: {prepare: {argv: [sleep, '300'], dir: deps}}\n`,
    );
    const second = await project.open();
    await until(() => roomsOf(project.dir, 'prepare').length > 0, 'the room of the preparation');
    const began = Date.now();
    await second.close('stop');
    expect(Date.now() - began).toBeLessThan(45_000);
    await expectNothingLeft(project.dir);
    expect(leftoversOf(project.dir).dependencies).toEqual([]);
    expect((await client.query('snapshot', {})).tasks).toMatchObject([{ status: 'open', attempts: 0 }]);

    project.git('checkout', '--', '.roundtable/config.yaml');
    project.write('src/b.txt', 'gamma\n');
    project.commitAll('Let it through');
    const third = await project.open();
    await untilSnapshot(third, ({ attention }) => attention.some((item) => item.kind === 'approval'));
    // The decision of a client without an owner is recorded; a command that owns the engine briefly applies it.
    await third.close('stop');
    expect(value(await approve(client, 'P-1', 1)).applied).toBe(false);
    const brief = await project.open('brief');
    value(await brief.command('proposal.apply', { proposalId: 'P-1', origin: 'scripted' }, 'operator'));
    expect(project.git('show', 'HEAD:src/a.txt')).toBe('done');
  });

  it('stops a test at once', async () => {
    const project = await start({
      agent: 'echo done > src/a.txt',
      config: `limits: {max_sessions: 2, max_attempts: 1}\n${SMALL}\ntests: {required: [["sleep", "300"]]}`,
      policy: 'consensus:\n  default: {tests_required: true, human_approval_required: true}',
    });
    const engine = await project.open();
    value(await engine.command('task.add', { runId: null, tasks: [roadTask('tested')] }, 'operator'));
    await until(() => roomsOf(project.dir, 'test').length > 0, 'the room of the test');
    const began = Date.now();
    await engine.close('stop');
    expect(Date.now() - began).toBeLessThan(45_000);
    await expectNothingLeft(project.dir);
    const { proposals } = await (await project.open('never')).query('snapshot', {});
    expect(proposals[0]).toMatchObject({ status: 'pending', testRuns: [{ status: 'cancelled', detail: 'cancelled' }] });
  });

  it('runs nothing without a container engine, and says what to do', async () => {
    const project = await start({ agent: 'touch /tmp/roundtable-ran-on-the-host; echo done > src/a.txt' });
    const app = createApplication({ ...process.env, DOCKER_HOST: 'unix:///nonexistent/docker.sock' });
    const engine = value(await app.open({ directory: project.dir, ownership: 'require', command: 'test' }));
    try {
      const { runId } = value(
        await engine.command('task.add', { runId: null, tasks: [roadTask('impossible')] }, 'operator'),
      );
      const outcome = await app.drive(engine, runId, AbortSignal.timeout(60_000));
      expect(outcome).toMatchObject({ exit: 1, reason: expect.stringMatching(/nonexistent|container engine/) });
      const seen = await engine.query('snapshot', {});
      expect(seen.sessions).toEqual([]);
      expect(seen.tasks).toMatchObject([{ status: 'open', attempts: 0 }]);
      expect(seen.engine.containerEngineProblem).not.toBeNull();
      expect(existsSync('/tmp/roundtable-ran-on-the-host')).toBe(false);
    } finally {
      await engine.close('stop');
    }
  });

  it('keeps the old configuration while an edited one is not valid', async () => {
    const project = await start({ agent: 'echo done > src/a.txt' });
    const engine = await project.open();
    const file = path.join(project.dir, '.roundtable/config.yaml');
    const valid = readFileSync(file, 'utf8');
    writeFileSync(file, `${valid}nonsense: [\n`);
    const wrong = await untilSnapshot(engine, (snapshot) => snapshot.engine.configProblem !== null);
    expect(wrong.engine.configProblem).toMatch(/config\.yaml.*the earlier configuration stays in force/);
    value(await engine.command('task.add', { runId: null, tasks: [roadTask('all the same')] }, 'operator'));
    await untilSnapshot(engine, ({ attention }) => attention.some((item) => item.kind === 'approval'));
    // Emptied for a moment, as editors do: that is no configuration without agents.
    writeFileSync(file, '');
    writeFileSync(file, valid.replace('count: 1', 'count: 2'));
    const mended = await untilSnapshot(engine, ({ agents }) => agents.filter((agent) => !agent.retired).length === 2);
    expect(mended.engine.configProblem).toBeNull();
    const events = await engine.query('events', { entity: 'agent', limit: 100 });
    expect(events.map((event) => event.type).filter((type) => /retired/.test(type))).toEqual([]);
  });

  it('leaves nothing behind however often it is killed', async () => {
    const report = await killSupervisors({ count: 5, seed: 20_251 });
    expect(report.kills).toBe(5);
    // The kills hit something: otherwise the case would prove nothing.
    expect(report.orphaned + report.cancelledTests).toBeGreaterThan(0);
  });
});
