import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Engine, Snapshot } from '../../../src/engine/api.ts';
import { containerTestsEnabled } from '../../support/container.ts';
import { approve, type RoadProject, roadProject, roadTask, untilSnapshot, value } from '../../support/road.ts';
import { clearProject, expectNothingLeft, leftoversOf, roomsOf } from '../../support/road-leftovers.ts';
import { tarArchive, tarEntry } from '../../support/tar-bytes.ts';

type Session = Snapshot['sessions'][number];

/** What the agent does, chosen by the title of its task. `told`: this is not its first attempt. */
const AGENT = `
title=$(head -n 1 "$1")
told() { grep -q "What happened before" "$1"; }
bad() { if told "$prompt"; then cat "$prompt"; exit 0; fi; }
prompt="$1"
case "$title" in
  nothing) echo "looked around" ;;
  fails) echo "attempt at $(date +%s)"; echo "no luck" >&2; exit 3 ;;
  stubborn) trap '' TERM; echo kept > src/kept.txt; echo deaf; while :; do sleep 1; done ;;
  lost) bad; echo asleep; exec sleep 600 ;;
  sleeper) echo asleep; exec sleep 600 ;;
  bomb) echo kept > src/kept.txt; echo armed; bomb() { bomb | bomb & }; bomb; sleep 600 ;;
  flood) head -c 104857600 /dev/zero | tr '\\0' x; echo flooded > src/a.txt ;;
  fill) echo kept > src/kept.txt; dd if=/dev/zero of=big bs=1M count=2048 ;;
  daemon) sleep 300 & echo held > src/a.txt; echo "left one behind" ;;
  symlink) bad; ln -s a.txt src/link ;;
  changed-link) bad; rm src/tracked-link; ln -s /etc/passwd src/tracked-link ;;
  fifo) bad; mkfifo src/pipe ;;
  hardlink) bad; ln src/a.txt src/twin ;;
  backslash) bad; echo x > 'src/a\\b' ;;
  outside) bad; mkdir -p docs; echo x > docs/new.txt ;;
  alias) bad; mkdir src/.GIT; echo x > src/.GIT/config ;;
  ours) bad; mkdir .roundtable; echo 'agents: {}' > .roundtable/config.yaml ;;
  secret) bad; echo TOKEN=1 > .env ;;
  oversized) bad; head -c 300000 /dev/zero > src/huge ;;
  escape) tar -xf /roundtable/source/tools/evil.tar 2>&1 || true; tar -xf /roundtable/source/tools/evil.tar -C / 2>&1 || true ;;
  shapes)
    printf '\\000\\377\\001' > src/binary.bin; chmod +x src/b.txt; mv src/old-name.txt src/new-name.txt
    rm src/gone.txt; echo changed > src/a.txt; cat .env.example; ls -A ;;
  modules)
    mkdir -p node_modules/.bin node_modules/tool; echo code > node_modules/tool/cli.js
    ln -s ../tool/cli.js node_modules/.bin/tool; mkfifo node_modules/odd; echo worked > src/a.txt ;;
  *) echo "unknown title $title"; exit 9 ;;
esac
`;

describe.skipIf(!containerTestsEnabled())('a session comes to a true end', { timeout: 300_000 }, () => {
  let road: RoadProject;
  let engine: Engine;
  let base: string;

  beforeAll(async () => {
    road = await roadProject({
      agent: AGENT,
      agents: 3,
      config: [
        'limits: {max_sessions: 3, max_attempts: 2, max_file_bytes: 200000}',
        'sandbox: {memory_mib: 512, workspace_mib: 32, temp_mib: 16, home_mib: 16, output_bytes: 65536}',
      ].join('\n'),
      files: {
        'src/a.txt': 'alpha\n',
        'src/b.txt': 'beta\n',
        'src/old-name.txt': 'a file that keeps its content and gets another name\n',
        'src/gone.txt': 'soon gone\n',
        'docs/readme.md': '# docs\n',
        '.env': 'SECRET=in-the-base\n',
        '.env.example': 'SECRET=fill-in\n',
        '.gitignore': 'node_modules/\n',
        'tools/evil.tar': Buffer.from(
          tarArchive(
            tarEntry({ name: '../evil.txt', content: 'evil' }),
            tarEntry({ name: 'src/../../../evil.txt', content: 'evil' }),
            tarEntry({ name: '/roundtable/evil.txt', content: 'evil' }),
          ),
        ),
      },
    });
    symlinkSync('a.txt', path.join(road.dir, 'src/tracked-link'));
    road.git('add', '--force', '.env');
    base = road.commitAll('Add a link and a secret');
    engine = await road.open();
  });

  afterAll(async () => {
    await clearProject(road.dir);
    await road.dispose();
  });

  const add = async (titles: readonly string[], change: Parameters<typeof roadTask>[1] = {}) =>
    value(
      await engine.command(
        'task.add',
        { runId: null, tasks: titles.map((title) => roadTask(title, change)) },
        'operator',
      ),
    ).taskIds;
  const statusOf = (snapshot: Snapshot, taskId: string) => snapshot.tasks.find((task) => task.id === taskId);
  const sessionsOf = (snapshot: Snapshot, taskId: string): readonly Session[] =>
    snapshot.sessions.filter((session) => session.taskId === taskId);
  const untilTask = (taskId: string, statuses: readonly string[]) =>
    untilSnapshot(engine, (snapshot) => statuses.includes(statusOf(snapshot, taskId)?.status ?? ''), 200_000);
  const untilSaid = async (taskId: string, text: string): Promise<string> => {
    const until = Date.now() + 60_000;
    for (;;) {
      const [session] = sessionsOf(await engine.query('snapshot', {}), taskId);
      if (session && (await logOf(session.id)).includes(text)) return session.id;
      if (Date.now() > until) throw new Error(`${taskId} never said ${text}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const logOf = async (sessionId: string, stream: 'stdout' | 'stderr' = 'stdout'): Promise<string> =>
    value(await engine.query('sessionLog', { sessionId, stream, fromByte: 0, maxBytes: 100_000 })).text;
  const expectUntouched = () => {
    expect(road.git('rev-parse', 'HEAD')).toBe(base);
    expect(road.git('status', '--porcelain')).toBe('');
  };
  const withdraw = async (taskId: string) =>
    value(await engine.command('task.cancel', { taskId, reason: 'the test is over' }, 'operator'));

  it('leaves a task without a change to the operator, who closes it', async () => {
    const [task = ''] = await add(['nothing']);
    const seen = await untilTask(task, ['in_review']);
    expect(sessionsOf(seen, task)).toMatchObject([
      { status: 'succeeded', statusReason: 'nothing was changed', exitCode: 0 },
    ]);
    expect(seen.attention).toMatchObject([{ kind: 'unchanged_session', id: task }]);
    await expectNothingLeft(road.dir);
    const rested = await untilSnapshot(engine, ({ runs }) => runs.at(-1)?.status === 'blocked');
    expect(rested.runs.at(-1)?.statusReason).toContain(task);
    value(await engine.command('task.confirm', { taskId: task }, 'operator'));
    const after = await untilSnapshot(engine, ({ runs }) => runs.at(-1)?.status === 'completed');
    expect(statusOf(after, task)).toMatchObject({ status: 'done' });
    expect(after.claims.filter((claim) => claim.status === 'active')).toEqual([]);
  });

  it('tries a failed one again after a pause, then fails the task', async () => {
    const [task = ''] = await add(['fails']);
    const seen = await untilTask(task, ['failed']);
    const [first, second, ...more] = sessionsOf(seen, task);
    expect(more).toEqual([]);
    expect(first).toMatchObject({ status: 'failed', exitCode: 3, attempt: 1 });
    expect(second).toMatchObject({ status: 'failed', exitCode: 3, attempt: 2 });
    expect(Date.parse(second?.createdAt ?? '') - Date.parse(first?.endedAt ?? '')).toBeGreaterThanOrEqual(1_000);
    expect(statusOf(seen, task)?.statusReason).toBe(
      `${second?.id} failed on attempt 2 of 2: the agent ended with exit code 3: no luck`,
    );
    expect(await logOf(second?.id ?? '', 'stderr')).toBe('no luck\n');
    await expectNothingLeft(road.dir);
    expectUntouched();
  });

  it('ends one that ignores SIGTERM when the operator says so, and keeps its work for a look', async () => {
    const [task = ''] = await add(['stubborn']);
    const sessionId = await untilSaid(task, 'deaf');
    value(await engine.command('session.stop', { sessionId }, 'operator'));
    const seen = await untilTask(task, ['blocked']);
    expect(sessionsOf(seen, task)).toMatchObject([{ status: 'cancelled', statusReason: 'stopped by the operator' }]);
    expect(statusOf(seen, task)?.statusReason).toBe(`${sessionId} cancelled: stopped by the operator`);
    const kept = value(await engine.query('sessionDiff', { sessionId }));
    expect(kept.map((file) => file.path)).toEqual(['src/kept.txt']);
    expect(seen.proposals.filter((proposal) => proposal.taskId === task)).toEqual([]);
    await expectNothingLeft(road.dir);
    expectUntouched();
    await withdraw(task);
  });

  it('stops one that has hardly begun, wherever it is, and never gives it a second try', async () => {
    const tasks = await add(['sleeper', 'sleeper', 'sleeper']);
    const stopped = new Set<string>();
    await untilSnapshot(engine, (snapshot) => {
      for (const session of tasks.flatMap((task) => sessionsOf(snapshot, task))) {
        if (stopped.has(session.id)) continue;
        stopped.add(session.id);
        void engine.command('session.stop', { sessionId: session.id }, 'operator');
      }
      return tasks.every((task) => statusOf(snapshot, task)?.status === 'blocked');
    });
    const seen = await engine.query('snapshot', {});
    for (const task of tasks)
      expect(sessionsOf(seen, task)).toMatchObject([{ status: 'cancelled', statusReason: 'stopped by the operator' }]);
    await expectNothingLeft(road.dir);
    for (const task of tasks) await withdraw(task);
  });

  it('fails one whose container is taken away from outside, and says so', async () => {
    const [task = ''] = await add(['lost']);
    const sessionId = await untilSaid(task, 'asleep');
    const { sessions } = await engine.query('snapshot', {});
    const container = sessions.find((session) => session.id === sessionId)?.containerId ?? '';
    execFileSync('docker', ['rm', '--force', container]);
    const seen = await untilTask(task, ['in_review', 'failed']);
    expect(sessionsOf(seen, task)).toMatchObject([
      { status: 'failed', statusReason: `the container of ${sessionId} was lost` },
      { status: 'succeeded', statusReason: 'nothing was changed' },
    ]);
    await expectNothingLeft(road.dir);
    await withdraw(task);
  });

  it('ends with its task when that is cancelled', async () => {
    const [task = ''] = await add(['sleeper']);
    await untilSaid(task, 'asleep');
    await withdraw(task);
    const seen = await untilSnapshot(engine, (snapshot) => sessionsOf(snapshot, task)[0]?.status === 'cancelled');
    expect(statusOf(seen, task)).toMatchObject({ status: 'cancelled', statusReason: 'the test is over' });
    expect(seen.claims.filter((claim) => claim.taskId === task && claim.status === 'active')).toEqual([]);
    await expectNothingLeft(road.dir);
  });

  it('ends a fork bomb when the operator says so', async () => {
    const [task = ''] = await add(['bomb']);
    const sessionId = await untilSaid(task, 'armed');
    value(await engine.command('session.stop', { sessionId }, 'operator'));
    const seen = await untilTask(task, ['blocked']);
    expect(sessionsOf(seen, task)).toMatchObject([{ status: 'cancelled', statusReason: 'stopped by the operator' }]);
    await expectNothingLeft(road.dir);
    expectUntouched();
    await withdraw(task);
  });

  it('ends with the agent although a process of it still holds the output open', async () => {
    const [task = ''] = await add(['daemon']);
    const seen = await untilTask(task, ['in_review']);
    const [session] = sessionsOf(seen, task);
    expect(session).toMatchObject({ status: 'succeeded', exitCode: 0 });
    expect(Date.parse(session?.endedAt ?? '') - Date.parse(session?.startedAt ?? '')).toBeLessThan(60_000);
    expect(await logOf(session?.id ?? '')).toBe('left one behind\n');
    expect(seen.proposals.find((proposal) => proposal.taskId === task)?.revision.touched).toEqual(['src/a.txt']);
    await expectNothingLeft(road.dir);
    await withdraw(task);
  });

  it('keeps a bounded part of endless output and says so', async () => {
    const before = process.memoryUsage().rss;
    const [task = ''] = await add(['flood']);
    const seen = await untilTask(task, ['in_review']);
    const [session] = sessionsOf(seen, task);
    expect(session).toMatchObject({ status: 'succeeded', stdoutBytes: 104_857_600, stdoutTruncated: true });
    expect(await logOf(session?.id ?? '')).toHaveLength(65_536);
    expect(process.memoryUsage().rss - before).toBeLessThan(90 * 1024 ** 2);
    await expectNothingLeft(road.dir);
    await withdraw(task);
  });

  it('lets one that fills its workspace fail by itself', async () => {
    const [task = ''] = await add(['fill']);
    const seen = await untilTask(task, ['failed']);
    for (const session of sessionsOf(seen, task)) {
      expect(session).toMatchObject({ status: 'failed', exitCode: 1 });
      expect(await logOf(session.id, 'stderr')).toContain('No space left on device');
    }
    await expectNothingLeft(road.dir);
    expectUntouched();
  });

  const REFUSED = {
    symlink: ['src/link', 'entry_symlink'],
    'changed-link': ['src/tracked-link', 'entry_symlink'],
    fifo: ['src/pipe', 'entry_fifo'],
    hardlink: ['src/', 'entry_hardlink'],
    backslash: ['src/a\\b', 'path_backslash'],
    outside: ['docs/new.txt', 'outside the scope'],
    alias: ['src/.GIT', 'path_git_dir'],
    ours: ['.roundtable', ''],
    secret: ['.env', 'sensitive'],
    oversized: ['src/huge', 'file_too_large'],
  } as const;

  it('refuses what no proposal may bring, with path and reason, and tells the next attempt', async () => {
    const titles = Object.keys(REFUSED) as (keyof typeof REFUSED)[];
    const tasks = await add(titles, { readablePaths: ['src/', 'tools/'], writablePaths: ['src/'] });
    const seen = await untilSnapshot(
      engine,
      (snapshot) => tasks.every((task) => ['in_review', 'failed'].includes(statusOf(snapshot, task)?.status ?? '')),
      250_000,
    );
    const actual: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const [index, title] of titles.entries()) {
      const [first, second] = sessionsOf(seen, tasks[index] ?? '');
      const [where, why] = REFUSED[title];
      expected[title] = [
        'failed',
        expect.stringMatching(new RegExp(`${escaped(where)}.*${escaped(why)}`)),
        'succeeded',
        'nothing was changed',
        expect.stringContaining(where),
      ];
      // The second attempt printed its prompt.
      actual[title] = [
        first?.status,
        first?.statusReason,
        second?.status,
        second?.statusReason,
        await logOf(second?.id ?? ''),
      ];
    }
    expect(actual).toEqual(expected);
    expect(seen.proposals.filter((proposal) => tasks.includes(proposal.taskId))).toEqual([]);
    await expectNothingLeft(road.dir);
    expectUntouched();
    for (const task of tasks) await engine.command('task.confirm', { taskId: task }, 'operator');
  });

  it('lets nothing escape through the names of an archive', async () => {
    const [task = ''] = await add(['escape'], { readablePaths: ['.'], writablePaths: ['.'] });
    const seen = await untilTask(task, ['in_review', 'failed']);
    for (const proposal of seen.proposals.filter((row) => row.taskId === task))
      for (const touched of proposal.revision.touched) expect(touched).not.toMatch(/^\/|\.\./);
    expect(readdirSync(path.dirname(road.dir))).not.toContain('evil.txt');
    await expectNothingLeft(road.dir);
    expectUntouched();
    if (statusOf(seen, task)?.status !== 'failed') await withdraw(task);
  });

  it('does not lose the work for ignored links and pipes beside it', async () => {
    const [task = ''] = await add(['modules']);
    const seen = await untilTask(task, ['in_review', 'failed']);
    expect(sessionsOf(seen, task)[0]?.statusReason ?? null).toBeNull();
    expect(seen.proposals.find((proposal) => proposal.taskId === task)?.revision.touched).toEqual(['src/a.txt']);
    await expectNothingLeft(road.dir);
    await withdraw(task);
  });

  it('brings bytes, modes, renames and deletions as they are, without the withheld file', async () => {
    const [task = ''] = await add(['shapes']);
    const seen = await untilTask(task, ['in_review', 'failed']);
    const [session] = sessionsOf(seen, task);
    expect(session?.withheld).toEqual(expect.arrayContaining(['.env']));
    const said = await logOf(session?.id ?? '');
    expect(said).toContain('SECRET=fill-in');
    expect(said.split('\n')).not.toContain('.env');
    const proposal = seen.proposals.find((row) => row.taskId === task);
    const waiting = await untilSnapshot(engine, ({ attention }) =>
      attention.some((item) => item.kind === 'approval' && item.id === proposal?.id),
    );
    expect(waiting.proposals.find((row) => row.id === proposal?.id)?.currentRevision).toBe(1);
    expect(value(await approve(engine, proposal?.id ?? '', 1)).applied).toBe(true);
    expect(road.git('diff', '--name-status', '--find-renames', base, 'HEAD').split('\n')).toEqual([
      'M\tsrc/a.txt',
      'M\tsrc/b.txt',
      'A\tsrc/binary.bin',
      'D\tsrc/gone.txt',
      'R100\tsrc/old-name.txt\tsrc/new-name.txt',
    ]);
    expect(road.git('ls-tree', 'HEAD', 'src/b.txt', 'src/tracked-link').split('\n')).toMatchObject([
      expect.stringMatching(/^100755/),
      expect.stringMatching(/^120000/),
    ]);
    expect([...readFileSync(path.join(road.dir, 'src/binary.bin'))]).toEqual([0, 255, 1]);
    expect(readFileSync(path.join(road.dir, '.env'), 'utf8')).toBe('SECRET=in-the-base\n');
    expect(road.git('status', '--porcelain')).toBe('');
    await expectNothingLeft(road.dir);
  });
});

describe.skipIf(!containerTestsEnabled())('sessions beside each other', { timeout: 240_000 }, () => {
  let road: RoadProject | null = null;
  afterEach(async () => {
    if (road) await clearProject(road.dir);
    await road?.dispose();
    road = null;
  });

  it('lets the second on the same file wait for the first, and runs what is apart at the same time', async () => {
    road = await roadProject({ agent: 'sleep 3; head -n 1 "$1" > "src/$(head -n 1 "$1").txt"', agents: 2 });
    const engine = await road.open();
    value(
      await engine.command(
        'task.add',
        {
          runId: null,
          tasks: [
            roadTask('a', { writablePaths: ['src/a.txt'] }),
            roadTask('a', { writablePaths: ['./src/a.txt'] }),
            roadTask('b', { writablePaths: ['src/b.txt'] }),
          ],
        },
        'operator',
      ),
    );
    const seen = await untilSnapshot(
      engine,
      ({ sessions }) => sessions.filter(({ status }) => status === 'succeeded').length === 3,
    );
    const of = (taskId: string) => {
      const session = seen.sessions.find((row) => row.taskId === taskId);
      return { from: Date.parse(session?.createdAt ?? ''), to: Date.parse(session?.endedAt ?? '') };
    };
    const [first, second, apart] = [of('T-1'), of('T-2'), of('T-3')];
    expect(second.from).toBeGreaterThanOrEqual(first.to);
    expect(apart.from).toBeLessThan(first.to);
    await expectNothingLeft(road.dir);
  });

  it('prepares dependencies once, for sessions and for the tests of their proposals', async () => {
    road = await roadProject({
      agent:
        'npm test >/dev/null 2>&1 && echo green > src/a.txt; ls node_modules/.bin; touch node_modules/x 2>&1 || true',
      files: vendoredProject(),
      config: [
        'limits: {max_sessions: 1, max_attempts: 1}',
        'tests: {required: [["npm", "test"]], prepare: {argv: [npm, ci, --offline, --no-audit, --no-fund]}}',
      ].join('\n'),
      policy: 'consensus:\n  default: {tests_required: true, human_approval_required: true}',
    });
    const engine = await road.open();
    value(await engine.command('task.add', { runId: null, tasks: [roadTask('one'), roadTask('two')] }, 'operator'));
    const seen = await untilSnapshot(
      engine,
      ({ attention, sessions }) =>
        attention.filter((item) => item.kind === 'approval').length === 2 ||
        sessions.some(({ status }) => status === 'failed'),
      200_000,
    );
    expect(seen.sessions.map(({ status, statusReason }) => [status, statusReason])).toEqual([
      ['succeeded', null],
      ['succeeded', null],
    ]);
    expect(seen.proposals.map((proposal) => [proposal.revision.touched, proposal.testRuns[0]?.status])).toEqual([
      [['src/a.txt'], 'passed'],
      [['src/a.txt'], 'passed'],
    ]);
    const log = value(
      await engine.query('sessionLog', { sessionId: 'S-2', stream: 'stdout', fromByte: 0, maxBytes: 1_000 }),
    );
    expect(log.text).toContain('greet\n');
    expect(log.text).toMatch(/read-only/i);
    expect(await engine.query('events', { type: 'dependencies.prepared', limit: 10 })).toHaveLength(1);
    await expectNothingLeft(road.dir);
  });

  it('says why dependencies could not be prepared, and leaves no volume of them', async () => {
    road = await roadProject({
      agent: 'echo never > src/a.txt',
      config: [
        'limits: {max_sessions: 2, max_attempts: 1}',
        'tests: {prepare: {argv: [sh, -c, "echo no such package >&2; exit 7"], dir: deps}}',
      ].join('\n'),
    });
    const engine = await road.open();
    value(await engine.command('task.add', { runId: null, tasks: [roadTask('never')] }, 'operator'));
    const seen = await untilSnapshot(engine, ({ tasks }) => tasks[0]?.status === 'failed');
    expect(seen.sessions).toHaveLength(1);
    expect(seen.sessions[0]?.statusReason).toMatch(
      /^preparing the dependencies .* exit code 7: no such package; check tests\.prepare/,
    );
    await expectNothingLeft(road.dir);
    expect(leftoversOf(road.dir).dependencies).toEqual([]);
  });

  it('gives an operator’s stop precedence over a preparation that the session waits for', async () => {
    road = await roadProject({
      agent: 'echo never > src/a.txt',
      config: 'limits: {max_sessions: 2, max_attempts: 1}\ntests: {prepare: {argv: [sleep, "300"], dir: deps}}',
    });
    const engine = await road.open();
    value(await engine.command('task.add', { runId: null, tasks: [roadTask('never')] }, 'operator'));
    const { dir } = road;
    await untilSnapshot(engine, ({ sessions }) => sessions.length > 0 && roomsOf(dir, 'prepare').length > 0);
    value(await engine.command('session.stop', { sessionId: 'S-1' }, 'operator'));
    const seen = await untilSnapshot(engine, ({ tasks }) => tasks[0]?.status === 'blocked', 60_000);
    expect(seen.sessions).toMatchObject([{ status: 'cancelled', statusReason: 'stopped by the operator' }]);
    await expectNothingLeft(road.dir);
    expect(leftoversOf(road.dir).dependencies).toEqual([]);
  });

  it('gives a task that was stopped another session when its run is resumed', async () => {
    road = await roadProject({
      agent: 'if [ "$(cat src/b.txt)" = beta ]; then sleep 600; else echo done > src/a.txt; fi',
    });
    const engine = await road.open();
    const { runId } = value(await engine.command('task.add', { runId: null, tasks: [roadTask('again')] }, 'operator'));
    await untilSnapshot(engine, ({ sessions }) => sessions[0]?.status === 'running');
    value(await engine.command('run.stop', { runId }, 'operator'));
    const stopped = await untilSnapshot(engine, ({ runs }) => runs[0]?.status === 'stopped');
    expect(stopped.tasks).toMatchObject([{ status: 'blocked' }]);
    road.write('src/b.txt', 'gamma\n');
    road.commitAll('Let it through');
    value(await engine.command('run.resume', { runId }, 'operator'));
    const seen = await untilSnapshot(engine, ({ attention }) => attention.some((item) => item.kind === 'approval'));
    expect(seen.tasks).toMatchObject([{ status: 'in_review' }]);
    expect(seen.sessions.map(({ status }) => status)).toEqual(['cancelled', 'succeeded']);
    await expectNothingLeft(road.dir);
  });

  it('still tells what the operator asked for after an attempt at it failed', async () => {
    road = await roadProject({
      agent:
        'if grep -q "exit code 5" "$1"; then cat "$1"; echo better > src/a.txt; elif grep -q "asks for changes" "$1"; then exit 5; else echo first > src/a.txt; fi',
      config: 'limits: {max_sessions: 1, max_attempts: 3}',
    });
    const engine = await road.open();
    value(await engine.command('task.add', { runId: null, tasks: [roadTask('improve')] }, 'operator'));
    await untilSnapshot(engine, ({ attention }) => attention.some((item) => item.kind === 'approval'));
    value(
      await engine.command(
        'proposal.requestChanges',
        { proposalId: 'P-1', revision: 1, origin: 'scripted', message: 'mind the umlauts' },
        'operator',
      ),
    );
    const seen = await untilSnapshot(engine, ({ proposals }) => proposals[0]?.currentRevision === 2);
    expect(seen.sessions.map(({ status }) => status)).toEqual(['succeeded', 'failed', 'succeeded']);
    const log = value(
      await engine.query('sessionLog', { sessionId: 'S-3', stream: 'stdout', fromByte: 0, maxBytes: 10_000 }),
    );
    expect(log.text).toContain('mind the umlauts');
    await expectNothingLeft(road.dir);
  });
});

/** A package with one dependency, vendored as a tarball so that it installs without a network. */
function vendoredProject(): Record<string, string | Buffer> {
  const tarball = gzipSync(
    tarArchive(
      tarEntry({
        name: 'package/package.json',
        content: JSON.stringify({ name: 'greet', version: '1.0.0', bin: { greet: 'cli.js' }, main: 'index.js' }),
      }),
      tarEntry({ name: 'package/index.js', content: "module.exports = () => 'hello';\n" }),
      tarEntry({ name: 'package/cli.js', content: "#!/usr/bin/env node\nconsole.log('hello');\n", mode: 0o755 }),
    ),
  );
  const dependencies = { greet: 'file:vendor/greet-1.0.0.tgz' };
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  return {
    'package.json': JSON.stringify({ name: 'app', version: '1.0.0', scripts: { test: 'node test.js' }, dependencies }),
    'package-lock.json': JSON.stringify({
      name: 'app',
      version: '1.0.0',
      lockfileVersion: 3,
      requires: true,
      packages: {
        '': { name: 'app', version: '1.0.0', dependencies },
        'node_modules/greet': { version: '1.0.0', resolved: dependencies.greet, integrity, bin: { greet: 'cli.js' } },
      },
    }),
    'test.js': "if (require('greet')() !== 'hello') process.exit(1);\n",
    'vendor/greet-1.0.0.tgz': tarball,
    'src/a.txt': 'alpha\n',
    '.gitignore': 'node_modules/\n',
  };
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
