import { promises as fs } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { completionWords } from '../../../bin/commands/completion.ts';
import { buildProgram } from '../../../bin/commands/program.ts';
import { ERRORS, type ErrorCode, engineError, err, ok } from '../../../src/engine/api.ts';
import { cli, event, FakeWorld, PROPOSAL, RUN, TASK } from './fake-application.ts';

function tree(): Command {
  return buildProgram({ ctx: { app: new FakeWorld().app, version: '1.2.3' } as never, exitCode: 0 }, () => undefined);
}

const PATHS = [...completionWords(tree()).keys()];

describe('the command tree', () => {
  it.each(PATHS)('has an example in the help of `%s`', async (name) => {
    const { code, stdout, stderr } = await cli([...name.split(' ').filter(Boolean), '--help']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/\nExample:\n {2}\$ roundtable/);
  });

  it('answers the version', async () => {
    expect(await cli(['--version'])).toMatchObject({ code: 0, stdout: '1.2.3\n' });
  });

  it.each([
    ['bash', 'complete -o default -F _roundtable roundtable'],
    ['zsh', '#compdef roundtable'],
    ['fish', "complete -c roundtable -f -n '__fish_seen_subcommand_from proposals' -a"],
  ])('completes in %s', async (shell, expected) => {
    const { code, stdout } = await cli(['completion', shell]);
    expect(code).toBe(0);
    expect(stdout).toContain(expected);
    expect(stdout).toContain('request-changes');
  });
});

describe('a mistake on the command line', () => {
  const cases: readonly [argv: string[], says: string, remedy: string][] = [
    [['rnu'], 'unknown command "rnu"', 'did you mean run?'],
    [['frobnicate'], 'unknown command "frobnicate"', 'see `roundtable --help`'],
    [['table', '--jsn'], "unknown option '--jsn'", 'did you mean --json?'],
    [['run', '--hedless'], "unknown option '--hedless'", 'did you mean --headless?'],
    [['claims', 'lsit'], "unknown command 'lsit'", 'did you mean list?'],
    [['claims'], 'roundtable claims needs a subcommand', 'roundtable claims --help'],
    [['table', 'extra'], "too many arguments for 'table'", 'in quotes'],
    [['task', 'fix', 'it'], "too many arguments for 'task'", 'in quotes'],
    [['task', 'lst'], '"lst" is neither a subcommand nor a sentence', 'did you mean list?'],
    [['task'], 'there is no task', 'roundtable task "TEXT"'],
    [['apply'], "missing required argument 'proposal'", '--help'],
    [['proposals', 'reject', 'P-1'], "required option '--reason <text>'", '--help'],
    [['task', 'list', '--limit', '0'], '--limit can not be "0"', 'from 1 to 200'],
    [['task', 'list', '--limit', '201'], '--limit can not be "201"', 'from 1 to 200'],
    [['task', 'list', '--limit', '1e2'], '--limit can not be "1e2"', 'from 1 to 200'],
    [['run', '--goal', 'x', '--headless', '--timeout', '90'], '"90" is no length of time', '90s, 30m or 2h'],
    [['run', '--goal', 'x', '--headless', '--timeout', '0s'], '"0s" is no length of time', '90s'],
    [['run', '--goal', 'x', '--headless', '--approve', 'always'], '--approve "always" is not known', 'policy, never'],
    [['run', '--headless'], 'there is nothing to do', '--goal TEXT'],
    [['run', '--resume', '--goal', 'x', '--headless'], '--resume goes on with a run as it is', 'leave out'],
    [['run', '--goal', 'x'], 'the screen needs a terminal', '--headless'],
    [['run', '--task', 'nowhere.md', '--headless'], 'the task file nowhere.md can not be read', 'name a file'],
    [['task', 'add', 'a b', '--expect-test', 'npm test'], '"npm test" is no list of arguments', `'["npm","test"]'`],
    [['start', '--http', '127.0.0.1:80'], 'serves nothing over HTTP', 'write off'],
    [['agents', 'disable', 'a', '--drain', '--now'], 'contradict', 'one of them'],
    [[], 'the screen needs a terminal', 'roundtable table'],
    [['completion', 'tcsh'], 'shell "tcsh" is not known', 'bash, zsh, fish'],
  ];
  it.each(cases)('%j is answered with exit code 2 and one line', async (argv, says, remedy) => {
    const { code, stdout, stderr, world } = await cli(argv);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: .*\n$/);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toContain(says);
    expect(stderr).toContain(remedy);
    expect(world.commands).toEqual([]);
  });

  it('is a JSON document with --json, wherever that stands', async () => {
    for (const argv of [
      ['--json', 'tabel'],
      ['table', '--jsn', '--json'],
      ['claims', 'lsit', '--json'],
    ]) {
      const { code, json, stderr } = await cli(argv);
      expect([code, stderr]).toEqual([2, '']);
      expect(json()).toMatchObject([
        { error: { code: 'invalid_argument', message: expect.any(String), remedy: expect.any(String) } },
      ]);
    }
  });

  it('does not take words after -- for options', async () => {
    const { stderr } = await cli(['tabel', '--', '--json']);
    expect(stderr).toContain('error: unknown command "tabel"');
  });
});

describe('an expected failure', () => {
  it.each(Object.keys(ERRORS) as ErrorCode[])('%s ends with its exit code and one line', async (code) => {
    const openError = engineError(code, 'what\nhappened', 'mend it');
    const plain = await cli(['table'], { openError });
    expect(plain.code).toBe(ERRORS[code].exit);
    expect(plain.stderr).toBe('error: what␊happened; mend it\n');
    const json = await cli(['table', '--json'], { openError });
    expect(json.json()).toEqual([{ error: { code, message: 'what\nhappened', remedy: 'mend it' } }]);
  });

  it('lets the engine go, also when a bug throws', async () => {
    const world = new FakeWorld({
      queries: {
        snapshot: () => {
          throw new Error('bug');
        },
      },
    });
    const { code, stderr } = await cli(['table'], { world });
    expect([code, stderr.trimEnd().split('\n').length]).toEqual([1, 1]);
    expect(stderr).toMatch(/^error: this is a mistake in the program: bug; .*ROUNDTABLE_DEBUG=1/);
    expect(world.closed).toEqual(['stop']);
  });
});

describe('a bug', () => {
  const queries = {
    snapshot: () => {
      throw new Error('bug\u001b[2J');
    },
  };

  it('shows its stack only when asked', async () => {
    const quiet = await cli(['table', '--json'], { queries });
    expect([quiet.code, quiet.stderr]).toEqual([1, '']);
    expect(quiet.json()).toMatchObject([{ error: { code: 'internal', message: expect.stringContaining('bug') } }]);
    const loud = await cli(['table'], { queries, env: { ROUNDTABLE_DEBUG: '1' } });
    expect(loud.stderr).toMatch(/\n {4}at /);
    expect(loud.stderr).not.toContain('\u001b');
  });
});

describe('global options', () => {
  it.each([
    [['--root', 'sub', '--json', 'table']],
    [['table', '--root', 'sub', '--json']],
    [['table', '--json', '--root=sub']],
  ])('count before and after the command: %j', async (argv) => {
    const { world, json } = await cli(argv);
    expect(world.opened).toEqual([{ directory: '/repo/sub', ownership: 'never', command: 'roundtable table' }]);
    expect(json()).toMatchObject([{ project: { name: 'demo' }, lastEventId: 0 }]);
  });

  it('reach nested commands', async () => {
    const { json } = await cli(['--json', 'task', 'list'], { snapshot: { tasks: [TASK] } });
    expect(json()).toMatchObject([{ items: [{ id: 'T-1' }], next: null }]);
  });

  it('make remarks quiet', async () => {
    expect((await cli(['task', 'list'])).stderr).toBe('none\n');
    expect((await cli(['task', 'list', '--quiet'])).stderr).toBe('');
  });
});

describe('lists', () => {
  const tasks = Array.from({ length: 120 }, (_, index) => ({ ...TASK, id: `T-${index + 1}` }));

  it('show 50 and where to go on', async () => {
    const first = await cli(['task', 'list', '--json'], { snapshot: { tasks } });
    expect(first.json()).toMatchObject([{ next: 'T-50' }]);
    const last = await cli(['task', 'list', '--json', '--after', 'T-100'], { snapshot: { tasks } });
    const [page] = last.json() as { items: { id: string }[]; next: string | null }[];
    expect(page?.items.map(({ id }) => id)).toEqual(tasks.slice(100).map(({ id }) => id));
    expect(page?.next).toBeNull();
  });

  it('say where to go on without --json, on stderr', async () => {
    const { stdout, stderr } = await cli(['task', 'list', '--limit', '2'], { snapshot: { tasks } });
    expect(stdout.trimEnd().split('\n')).toHaveLength(3);
    expect(stderr).toBe('more: --after T-2\n');
  });

  it('refuse a cursor that is not there', async () => {
    expect((await cli(['task', 'list', '--after', 'T-999'], { snapshot: { tasks } })).code).toBe(2);
  });

  it('filter', async () => {
    const mixed = [TASK, { ...TASK, id: 'T-2', status: 'done' }];
    const { json } = await cli(['task', 'list', '--status', 'done', '--json'], { snapshot: { tasks: mixed } });
    expect(json()).toMatchObject([{ items: [{ id: 'T-2' }] }]);
  });

  it.each([
    ['runs list', { runs: [RUN] }],
    ['proposals list', { proposals: [PROPOSAL] }],
    [
      'claims list',
      {
        claims: [
          { id: 'C-1', status: 'active', mode: 'write', path: 'src/', agentId: 'a', taskId: null, expiresAt: 'x' },
        ],
      },
    ],
    [
      'agents list',
      { agents: [{ id: 'a-1', role: 'Implementer', status: 'idle', adapter: 'g', model: 'm', maxSessions: 1 }] },
    ],
    [
      'transactions list',
      {
        transactions: [
          { id: 'TX-1', status: 'applied', kind: 'apply', proposalId: 'P-1', targetRef: 'r', newCommit: null },
        ],
      },
    ],
    [
      'sessions list',
      { sessions: [{ id: 'S-1', status: 'running', agentId: 'a', taskId: null, startedAt: null, exitCode: null }] },
    ],
  ])('%s prints a heading and rows, and JSON', async (line, snapshot) => {
    const plain = await cli(line.split(' '), { snapshot });
    expect(plain.code).toBe(0);
    expect(plain.stdout.split('\n')[0]).toMatch(/^ID +/);
    expect(plain.stdout.trimEnd().split('\n')).toHaveLength(2);
    const json = await cli([...line.split(' '), '--json'], { snapshot });
    expect(json.json()).toMatchObject([{ items: [{}], next: null }]);
  });
});

describe('text that came from elsewhere', () => {
  const evil = 'a\u001b]52;c;AAAA\u0007b\u202ec\r\nd\u009b31m';

  it('can not command the terminal', async () => {
    const snapshot = {
      tasks: [{ ...TASK, title: evil, body: evil }],
      proposals: [{ ...PROPOSAL, title: evil }],
      runs: [{ ...RUN, goal: evil }],
    };
    for (const line of ['task list', 'task show T-1', 'table', 'proposals list', 'runs list', 'watch --once']) {
      const { stdout } = await cli(line.split(' '), { snapshot });
      expect(stdout).toContain('a␛]52');
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
  });

  it('can not do so in JSON either, and is still itself', async () => {
    const { stdout, json } = await cli(['task', 'list', '--json'], { snapshot: { tasks: [{ ...TASK, title: evil }] } });
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(json()).toMatchObject([{ items: [{ title: evil }] }]);
  });

  it('can not do so in an error', async () => {
    const { stderr } = await cli(['table'], { openError: engineError('git_failed', evil, evil) });
    expect(stderr.trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });
});

describe('decisions', () => {
  const snapshot = {
    proposals: [PROPOSAL],
    transactions: [{ id: 'TX-1', proposalId: 'P-1', status: 'applied', kind: 'apply' }],
  };
  const answers = {
    'proposal.approve': ok({ applied: true, transactionId: 'TX-2' as never, gates: [] }),
    'proposal.apply': ok({ transactionId: 'TX-2' as never }),
    'transaction.rollback': ok({ transactionId: 'TX-3' as never }),
  };
  const commands: readonly [argv: string[], id: string, command: string, input: object][] = [
    [
      ['proposals', 'approve', 'P-1', '--note', 'fine'],
      'P-1',
      'proposal.approve',
      { proposalId: 'P-1', revision: 2, note: 'fine' },
    ],
    [
      ['proposals', 'reject', 'P-1', '--reason', 'no'],
      'P-1',
      'proposal.reject',
      { proposalId: 'P-1', revision: 2, reason: 'no' },
    ],
    [
      ['proposals', 'request-changes', 'P-1', '--message', 'more'],
      'P-1',
      'proposal.requestChanges',
      { proposalId: 'P-1', revision: 2, message: 'more' },
    ],
    [['apply', 'P-1'], 'P-1', 'proposal.apply', { proposalId: 'P-1' }],
    [['rollback', 'TX-1', '--reason', 'bad'], 'TX-1', 'transaction.rollback', { transactionId: 'TX-1', reason: 'bad' }],
  ];

  it.each(commands)('%j needs the id typed on a terminal', async (argv, id, command, input) => {
    const { code, world, stderr } = await cli(argv, { snapshot, answers, types: `${id}\n` });
    expect(code).toBe(0);
    expect(stderr).toContain(`Type ${id} to confirm: `);
    expect(world.commands).toEqual([
      { name: command, input: { ...input, origin: 'cli-typed' }, principal: 'operator' },
    ]);
  });

  it.each(commands)('%j is not given by another word', async (argv) => {
    for (const types of ['yes\n', 'P-2\n', 'p-1\n', '\n', '']) {
      const { code, world, stderr } = await cli(argv, { snapshot, answers, types });
      expect(code).toBe(1);
      expect(stderr).toContain('nothing was decided');
      expect(world.commands).toEqual([]);
    }
  });

  it.each(commands)('%j is not given without a terminal', async (argv) => {
    const { code, world, json } = await cli([...argv, '--json'], { snapshot, answers });
    expect(code).toBe(1);
    expect(json()).toMatchObject([{ error: { code: 'human_decision_required' } }]);
    expect(world.commands).toEqual([]);
  });

  it.each(commands)(
    '%j is given by a script where the configuration allows it, and says so',
    async (argv, _, command, input) => {
      const { code, world } = await cli(argv, { snapshot, answers, noninteractive: true });
      expect(code).toBe(0);
      expect(world.commands).toEqual([
        { name: command, input: { ...input, origin: 'noninteractive' }, principal: 'operator' },
      ]);
    },
  );

  it('still need the id on a terminal where scripts are allowed', async () => {
    expect(
      (await cli(['apply', 'P-1'], { snapshot, answers, noninteractive: true, types: 'no\n' })).world.commands,
    ).toEqual([]);
  });

  it('end when the process is interrupted at the question', async () => {
    const controller = new AbortController();
    controller.abort(130);
    const { code, world } = await cli(['apply', 'P-1'], { snapshot, types: 'P-1\n', interrupt: controller.signal });
    expect(code).toBe(1);
    expect(world.commands).toEqual([]);
  });

  it('are bound to the revision that the caller names', async () => {
    const { code, stderr, world } = await cli(['proposals', 'approve', 'P-1', '--revision', '1'], {
      snapshot,
      types: 'P-1\n',
    });
    expect(code).toBe(2);
    expect(stderr).toContain('P-1 is at revision 2, not 1');
    expect(world.commands).toEqual([]);
  });

  it('about something that is not there are refused before any question', async () => {
    for (const argv of [
      ['proposals', 'approve', 'P-9'],
      ['apply', 'P-9'],
      ['rollback', 'TX-9', '--reason', 'x'],
    ]) {
      const { code, stderr } = await cli(argv, { snapshot, types: 'P-9\n' });
      expect(code).toBe(1);
      expect(stderr).toMatch(/^error: there is no/);
    }
  });

  it('say what is still open when nothing was applied', async () => {
    const waiting = { 'proposal.approve': ok({ applied: false, transactionId: null, gates: PROPOSAL.gates as never }) };
    const { code, stdout } = await cli(['proposals', 'approve', 'P-1'], { snapshot, answers: waiting, types: 'P-1\n' });
    expect(code).toBe(0);
    expect(stdout).toContain('approved, not applied yet');
    expect(stdout).toContain('waits for the operator; approve it');
  });

  it('end with the exit code of a refusal', async () => {
    const refused = { 'proposal.apply': err(engineError('gates_not_passed', 'tests failed', 'mend them')) };
    expect((await cli(['apply', 'P-1'], { snapshot, answers: refused, types: 'P-1\n' })).code).toBe(3);
  });
});

describe('proposals', () => {
  const files = [
    {
      path: 'src/a.ts',
      renamedFrom: null,
      status: 'modified',
      oldMode: '100644',
      newMode: '100755',
      binary: false,
      additions: 1,
      deletions: 1,
      truncated: false,
      hunks: [
        {
          header: '',
          oldStart: 1,
          oldLines: 2,
          newStart: 1,
          newLines: 2,
          lines: [
            { kind: 'context', text: 'same', oldLine: 1, newLine: 1 },
            { kind: 'removed', text: 'old\u001b[2J', oldLine: 2, newLine: null },
            { kind: 'added', text: 'new', oldLine: null, newLine: 2 },
          ],
        },
      ],
    },
  ];
  const options = { snapshot: { proposals: [PROPOSAL] }, queries: { diff: () => ok(files as never) } };

  it('show the change, inert', async () => {
    const { stdout } = await cli(['proposals', 'show', 'P-1', '--diff'], options);
    expect(stdout).toBe('── modified src/a.ts (mode 100644 → 100755)\n@@ -1,2 +1,2 @@\n same\n-old␛[2J\n+new\n');
  });

  it('show gates with their remedies', async () => {
    const { stdout } = await cli(['proposals', 'show', 'P-1', '--gates'], options);
    expect(stdout.split('\n')[1]).toMatch(/^human +pending +waits for the operator; approve it$/);
  });

  it('show the size', async () => {
    expect((await cli(['proposals', 'show', 'P-1', '--stat'], options)).stdout).toBe('M  src/a.ts  +1 -1\n');
  });

  it('are not valid while a gate is open', async () => {
    const { code, json } = await cli(['proposals', 'validate', 'P-1', '--json'], options);
    expect(code).toBe(3);
    expect(json()).toMatchObject([{ id: 'P-1', revision: 2, holds: false, gates: [{ id: 'tests' }, { id: 'human' }] }]);
    const passed = { ...PROPOSAL, gates: [PROPOSAL.gates[0]] };
    expect((await cli(['proposals', 'validate', 'P-1'], { snapshot: { proposals: [passed] } })).code).toBe(0);
  });

  it('are tested again', async () => {
    const failed = { 'proposal.test': ok({ passed: false }) };
    const { code, world } = await cli(['proposals', 'test', 'P-1'], { answers: failed });
    expect(code).toBe(4);
    expect(world.opened[0]?.ownership).toBe('brief');
  });
});

describe('tasks', () => {
  const answers = {
    'task.add': ok({ runId: 'R-1' as never, taskIds: ['T-9' as never] }),
    'task.import': ok({ runId: 'R-1' as never, taskIds: ['T-9' as never] }),
  };

  it('are added in a few words', async () => {
    const { code, stdout, world } = await cli(['task', 'Add a flag\nwith care'], { answers });
    expect([code, stdout]).toEqual([0, 'T-9 added to R-1\n']);
    expect(world.commands[0]).toMatchObject({
      name: 'task.add',
      input: {
        runId: null,
        tasks: [{ title: 'Add a flag', body: 'Add a flag\nwith care', readablePaths: null, role: 'Implementer' }],
      },
    });
  });

  it('are added with everything said', async () => {
    const argv = [
      'task',
      'add',
      'Do it',
      '--body',
      'well',
      '--run',
      'R-1',
      '--writable',
      'a',
      '--writable',
      'b',
      '--risk',
      'HIGH',
      '--priority',
      '-3',
      '--role',
      'tester',
      '--agent',
      'tester-1',
      '--depends-on',
      'T-1',
      '--expect-test',
      '["npm","test"]',
    ];
    const { code, world } = await cli(argv, { answers });
    expect(code).toBe(0);
    expect(world.commands[0]?.input).toEqual({
      runId: 'R-1',
      tasks: [
        {
          title: 'Do it',
          body: 'well',
          readablePaths: null,
          writablePaths: ['a', 'b'],
          risk: 'high',
          priority: -3,
          role: 'Tester',
          agentId: 'tester-1',
          dependsOn: ['T-1'],
          expectedTests: [['npm', 'test']],
        },
      ],
    });
  });

  it('are imported from the project or from named files', async () => {
    const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'rt-cli-'));
    try {
      expect((await cli(['task', 'import'], { answers, cwd: directory })).code).toBe(2);
      await fs.mkdir(path.join(directory, 'TASKS.ROUNDTABLE'));
      await fs.writeFile(path.join(directory, 'TASKS.ROUNDTABLE/0002-b.md'), 'b');
      await fs.writeFile(path.join(directory, 'TASKS.ROUNDTABLE/0001-a.md'), 'a');
      await fs.writeFile(path.join(directory, 'TASKS.ROUNDTABLE/notes.txt'), 'no');
      const all = await cli(['task', 'import'], { answers, cwd: directory });
      expect(all.world.commands[0]?.input).toEqual({
        runId: null,
        files: [
          { name: 'TASKS.ROUNDTABLE/0001-a.md', text: 'a' },
          { name: 'TASKS.ROUNDTABLE/0002-b.md', text: 'b' },
        ],
      });
      const one = await cli(['task', 'import', 'TASKS.ROUNDTABLE/0002-b.md', '--run', 'R-1'], {
        answers,
        cwd: directory,
      });
      expect(one.world.commands[0]?.input).toMatchObject({ runId: 'R-1', files: [{ text: 'b' }] });
    } finally {
      await fs.rm(directory, { recursive: true, force: true });
    }
  });

  it.each([
    [['task', 'cancel', 'T-1'], 'task.cancel', { taskId: 'T-1', reason: null }],
    [['task', 'confirm', 'T-1'], 'task.confirm', { taskId: 'T-1' }],
    [['runs', 'pause', 'R-1'], 'run.pause', { runId: 'R-1' }],
    [['runs', 'drain', 'R-1'], 'run.drain', { runId: 'R-1' }],
    [['runs', 'stop', 'R-1'], 'run.stop', { runId: 'R-1' }],
    [['runs', 'resume', 'R-1'], 'run.resume', { runId: 'R-1' }],
    [['sessions', 'stop', 'S-1'], 'session.stop', { sessionId: 'S-1' }],
    [['agents', 'enable', 'a-1'], 'agent.enable', { agentId: 'a-1' }],
    [['agents', 'disable', 'a-1'], 'agent.disable', { agentId: 'a-1', how: 'refuse' }],
    [['agents', 'disable', 'a-1', '--drain'], 'agent.disable', { agentId: 'a-1', how: 'drain' }],
    [['agents', 'disable', 'a-1', '--now'], 'agent.disable', { agentId: 'a-1', how: 'now' }],
  ])('%j becomes one command of the engine', async (argv, name, input) => {
    const { code, world } = await cli(argv);
    expect(code).toBe(0);
    expect(world.commands).toEqual([{ name, input, principal: 'operator' }]);
  });
});

describe('run --headless', () => {
  const answers = {
    'run.create': ok({ runId: 'R-1' as never }),
    'task.add': ok({ runId: 'R-1' as never, taskIds: ['T-1' as never] }),
  };
  const snapshot = {
    runs: [RUN],
    tasks: [TASK, { ...TASK, id: 'T-7', runId: 'R-0' }],
    proposals: [PROPOSAL],
    transactions: [{ id: 'TX-1', proposalId: 'P-1', kind: 'apply', status: 'applied', newCommit: 'd'.repeat(40) }],
  };
  const outcome = (exit: 0 | 1 | 3 | 4 | 5, reason = 'why') => ({ runId: 'R-1' as never, exit, reason });

  it('owns the engine, makes the run, and streams events before the summary', async () => {
    const { code, world, json } = await cli(
      [
        'run',
        '--headless',
        '--json',
        '--goal',
        'Make it',
        '--scope',
        'src',
        '--target',
        'main',
        '--max-iterations',
        '3',
        '--timeout',
        '2m',
        '--approve',
        'policy',
      ],
      {
        answers,
        snapshot,
        events: [event(1)],
        drive: async (fake) => {
          fake.emit(event(2));
          fake.emit(event(3, { runId: 'R-0' as never }));
          fake.emit(event(4));
          return outcome(0);
        },
      },
    );
    expect(code).toBe(0);
    expect(world.opened).toEqual([{ directory: '/repo', ownership: 'require', command: 'roundtable run' }]);
    expect(world.commands.map(({ name, input }) => [name, input])).toMatchObject([
      [
        'run.create',
        {
          goal: 'Make it',
          scope: ['src'],
          targetRef: 'main',
          approveMode: 'policy',
          maxIterations: 3,
          timeoutMs: 120_000,
        },
      ],
      ['task.add', { runId: 'R-1', tasks: [{ title: 'Make it' }] }],
    ]);
    const lines = json() as { type: string; event?: { id: number } }[];
    expect(lines.map((line) => line.event?.id ?? line.type)).toEqual([2, 4, 'summary']);
    expect(lines.at(-1)).toEqual({
      type: 'summary',
      run: RUN,
      tasks: [{ id: 'T-1', title: 'a task', status: 'open', reason: null }],
      proposals: [
        {
          id: 'P-1',
          taskId: 'T-1',
          title: 'a change',
          status: 'in_review',
          reason: null,
          revision: 2,
          gates: { tests: 'passed', human: 'pending' },
        },
      ],
      transactions: [{ id: 'TX-1', proposalId: 'P-1', kind: 'apply', status: 'applied', commit: 'd'.repeat(40) }],
      reason: 'why',
      exit: 0,
    });
    expect(world.subscribers).toBe(0);
    expect(world.closed).toEqual(['stop']);
  });

  it('loses and repeats nothing when events come in a burst', async () => {
    const { json } = await cli(['run', '--headless', '--json', '--goal', 'Make it'], {
      answers,
      snapshot,
      drive: async (fake) => {
        for (let id = 1; id <= 1700; id++) {
          fake.emit(event(id));
          if (id % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        return outcome(0);
      },
    });
    const ids = (json() as { event?: { id: number } }[]).flatMap((line) =>
      line.event === undefined ? [] : [line.event.id],
    );
    expect(ids).toEqual(Array.from({ length: 1700 }, (_, index) => index + 1));
  });

  it.each([0, 1, 3, 4, 5] as const)('ends with exit code %i when the run does', async (exit) => {
    const { code, stdout } = await cli(['run', '--headless', '--goal', 'Make it'], {
      answers,
      snapshot,
      drive: async () => outcome(exit),
    });
    expect(code).toBe(exit);
    if (exit === 3) expect(stdout).toContain('roundtable proposals approve P-1');
  });

  it.each([130, 143, 129])('ends with %i when a signal says so, after the run has drained', async (signal) => {
    const controller = new AbortController();
    const { code, json } = await cli(['run', '--headless', '--goal', 'Make it', '--json'], {
      answers,
      snapshot,
      interrupt: controller.signal,
      drive: async (_, stop) => {
        controller.abort(signal);
        expect(stop.aborted).toBe(true);
        return outcome(5);
      },
    });
    expect(code).toBe(signal);
    expect(json().at(-1)).toMatchObject({ type: 'summary', exit: signal });
  });

  it('stops the run when its tasks are refused', async () => {
    const refused = { ...answers, 'task.add': err(engineError('task_cycle', 'a cycle', 'break it')) };
    const { code, world } = await cli(['run', '--headless', '--goal', 'Make it'], { answers: refused, snapshot });
    expect(code).toBe(1);
    expect(world.commands.map(({ name }) => name)).toEqual(['run.create', 'task.add', 'run.stop']);
  });

  it('exits 6 when another process owns the engine', async () => {
    const openError = engineError('engine_owned', 'owned', 'wait');
    expect((await cli(['run', '--headless', '--goal', 'x y'], { openError })).code).toBe(6);
    expect((await cli(['start'], { openError })).code).toBe(6);
  });

  it('resumes the newest unfinished run, or the named one', async () => {
    const runs = [
      { ...RUN, id: 'R-1', status: 'stopped' },
      { ...RUN, id: 'R-2', status: 'blocked' },
      { ...RUN, id: 'R-3', status: 'completed' },
    ];
    const newest = await cli(['run', '--headless', '--resume'], { snapshot: { runs }, drive: async () => outcome(0) });
    expect(newest.world.commands).toMatchObject([{ name: 'run.resume', input: { runId: 'R-2' } }]);
    const named = await cli(['run', '--headless', '--resume', 'R-1', '--timeout', '1h'], {
      snapshot: { runs },
      drive: async () => outcome(0),
    });
    expect(named.world.commands).toMatchObject([{ name: 'run.resume', input: { runId: 'R-1', timeoutMs: 3_600_000 } }]);
    const none = await cli(['run', '--headless', '--resume', 'R-9'], { snapshot: { runs } });
    expect([none.code, none.world.commands]).toEqual([1, []]);
  });

  it('goes on with a run that a killed process left active', async () => {
    const { code, world } = await cli(['run', '--headless', '--resume'], { snapshot, drive: async () => outcome(0) });
    expect([code, world.commands]).toEqual([0, []]);
  });
});

describe('events and watch', () => {
  const events = [event(1), event(2, { entity: 'proposal', entityId: 'P-1' }), event(3, { runId: 'R-2' as never })];

  it('are JSON lines', async () => {
    expect((await cli(['events', '--json'], { events })).json()).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3 }]);
  });

  it.each([
    [
      ['--after', '1'],
      [2, 3],
    ],
    [['--run', 'R-2'], [3]],
    [['--entity', 'proposal'], [2]],
    [['--entity', 'proposal:P-1'], [2]],
    [['--entity', 'proposal:P-2'], []],
    [['--type', 'nothing'], []],
    [
      ['--limit', '2'],
      [1, 2],
    ],
  ])('are filtered by %j', async (argv, ids) => {
    const { json } = await cli(['events', '--json', ...argv], { events });
    expect((json() as { id: number }[]).map(({ id }) => id)).toEqual(ids);
  });

  it.each([['events', '-f'], ['watch'], ['start']])('follow what happens until interrupted: %s %s', async (...argv) => {
    const controller = new AbortController();
    const world = new FakeWorld({ events });
    const running = cli([...argv.filter(Boolean), '--json'], { world, interrupt: controller.signal });
    await until(() => world.subscribers === 1);
    world.emit(event(4));
    world.emit(event(5));
    controller.abort(130);
    const { code, json } = await running;
    expect(code).toBe(130);
    const ids = (json() as { id?: number; event?: { id: number } }[]).flatMap(
      (line) => line.id ?? line.event?.id ?? [],
    );
    expect(ids.slice(-2)).toEqual([4, 5]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(world.subscribers).toBe(0);
  });

  it.each([
    [130, ['stop']],
    [143, ['stop']],
    [129, ['drain', 'stop']],
  ])('start lets sessions finish only when its terminal went away: %i', async (signal, closed) => {
    const controller = new AbortController();
    const world = new FakeWorld();
    const running = cli(['start'], { world, interrupt: controller.signal });
    await until(() => world.subscribers === 1);
    controller.abort(signal);
    expect((await running).code).toBe(signal);
    expect(world.closed).toEqual(closed);
  });

  it.each([['events', '-f'], ['watch']])('end when nobody reads any more: %s %s', async (...argv) => {
    const world = new FakeWorld({ events });
    let stdout: PassThrough | undefined;
    const running = cli(argv.filter(Boolean), {
      world,
      onStdout: (stream) => {
        stdout = stream;
      },
    });
    await until(() => world.subscribers === 1);
    stdout?.destroy(new Error('EPIPE'));
    expect((await running).code).toBe(0);
    expect(world.closed).toEqual(['stop']);
  });

  it('show one picture with --once', async () => {
    const snapshot = {
      runs: [RUN],
      tasks: [TASK],
      proposals: [PROPOSAL],
      attention: [{ kind: 'approval', entity: 'proposal', id: 'P-1', text: 'P-1 waits' }],
    };
    const { code, json } = await cli(['watch', '--once', '--json', '--limit', '2'], { events, snapshot });
    expect(code).toBe(0);
    expect(json()).toMatchObject([
      { lastEventId: 3, runs: [{ id: 'R-1' }], attention: [{ id: 'P-1' }], events: [{ id: 2 }, { id: 3 }] },
    ]);
    expect((await cli(['watch', '--once', '--run', 'R-9'], { snapshot })).code).toBe(1);
  });
});

describe('session logs', () => {
  it('are read to their end in whole lines, inert', async () => {
    const text = `${'x'.repeat(10)}\u001b[31m red\nrest`;
    const { code, stdout } = await cli(['sessions', 'logs', 'S-1', '--stream', 'stderr'], {
      queries: {
        sessionLog: ({ stream, fromByte }) => {
          expect(stream).toBe('stderr');
          const piece = text.slice(fromByte, fromByte + 12);
          return ok({
            text: piece,
            nextByte: fromByte + piece.length,
            ended: fromByte + piece.length === text.length,
            truncated: false,
          });
        },
      },
    });
    expect([code, stdout]).toEqual([0, 'xxxxxxxxxx␛[31m red\nrest\n']);
  });

  it('are followed until the session ends', async () => {
    let calls = 0;
    const { code, stdout } = await cli(['sessions', 'logs', 'S-1', '-f'], {
      queries: {
        sessionLog: ({ fromByte }) => {
          calls += 1;
          const grown = calls < 3 ? 'one\n' : 'one\ntwo\n';
          return ok({ text: grown.slice(fromByte), nextByte: grown.length, ended: calls > 4, truncated: true });
        },
      },
    });
    expect([code, stdout]).toEqual([0, 'one\ntwo\n']);
  });

  it('of nobody are an error', async () => {
    const queries = { sessionLog: () => err(engineError('not_found', 'there is no session S-9', 'list them')) };
    expect((await cli(['sessions', 'logs', 'S-9'], { queries })).code).toBe(1);
  });
});

describe('project commands', () => {
  it('init reports what it did', async () => {
    const report = {
      root: '/repo',
      stateDir: '/repo/.git/roundtable',
      created: ['a'],
      kept: ['b'],
      backedUp: [{ path: 'c', backup: 'c.bak' }],
      detected: ['branch: main'],
      next: ['commit'],
    };
    const calls: unknown[] = [];
    const application = {
      init: async (...input: unknown[]) => {
        calls.push(input);
        return ok(report);
      },
    };
    const plain = await cli(['init', '--force', '--yes', '--root', '/elsewhere'], { application });
    expect(plain.stdout).toBe(
      'found    branch: main\ncreated  a\nkept     b\nreplaced c, old one in c.bak\nnext:\n  commit\n',
    );
    expect(calls).toEqual([['/elsewhere', { force: true, refreshGenerated: false }]]);
    expect((await cli(['init', '--json'], { application })).json()).toEqual([report]);
  });

  it('config check prints every problem and exits 1', async () => {
    const problems = [engineError('config_invalid', 'c:1:1: a', 'b'), engineError('config_invalid', 'c:2:1: d', 'e')];
    const application = { checkConfig: async () => ok({ file: 'c', problems, warnings: ['w'] }) };
    const { code, stdout, stderr } = await cli(['config', 'check', '--quiet'], { application });
    expect([code, stdout, stderr]).toEqual([1, 'warning: w\n', 'error: c:1:1: a; b\nerror: c:2:1: d; e\n']);
    expect((await cli(['config', 'check', '--json'], { application })).json()).toMatchObject([
      { ok: false, problems: [{}, {}] },
    ]);
    expect((await cli(['config', 'check'])).stdout).toBe('.roundtable/config.yaml is valid\n');
  });

  it('config show leaves defaults out unless asked', async () => {
    const values = [
      { key: 'a', value: 1, origin: 'file' },
      { key: 'b', value: [], origin: 'default' },
    ] as const;
    const application = { showConfig: async () => ok(values) };
    expect((await cli(['config', 'show', '--json'], { application })).json()).toEqual([{ values: [values[0]] }]);
    expect((await cli(['config', 'show', '--effective', '--json'], { application })).json()).toEqual([{ values }]);
  });

  it('image build says where the id went', async () => {
    const application = {
      buildImage: async () => ok({ adapter: 'g', imageId: 'sha256:1', sizeBytes: 2_097_152, ms: 1500, writtenTo: 'c' }),
    };
    expect((await cli(['image', 'build', 'g'], { application })).stdout).toBe(
      'g: sha256:1, 2.0 MiB in 1.5 s\nwritten to c\n',
    );
    expect((await cli(['image', 'build', 'g'])).code).toBe(1);
  });

  it('transactions recover exits 3 when something needs the operator', async () => {
    const transactions = [{ id: 'TX-1', status: 'aborted', statusReason: 'left', needsOperator: true }];
    const { code, world, json } = await cli(['transactions', 'recover', '--json'], { snapshot: { transactions } });
    expect(code).toBe(3);
    expect(json()).toEqual([{ needsOperator: [{ id: 'TX-1', status: 'aborted', reason: 'left' }] }]);
    expect(world.opened[0]?.ownership).toBe('brief');
    expect((await cli(['transactions', 'recover'])).code).toBe(0);
  });
});

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 5000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('it did not happen in time');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
