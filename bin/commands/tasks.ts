import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import type { NewTask, Risk, Role, TaskRecord } from '../../src/engine/api.ts';
import type { CommandResult } from './context.ts';
import { type Invocation, implement, type Program } from './invocation.ts';
import { printPage } from './lists.ts';
import { nearestWord } from './nearest-word.ts';
import { taskFromText } from './new-task.ts';
import { notFound } from './not-found.ts';
import { addPaging, type PageOptions } from './page.ts';
import { badArgument } from './usage.ts';
import { collect, parseArgv, parseChoice, parseWhole } from './values.ts';
import { withEngine, withSnapshot } from './with-engine.ts';

const RISKS = ['low', 'normal', 'high', 'critical'] as const satisfies readonly Risk[];
const ROLES = [
  'Chair',
  'Architect',
  'Implementer',
  'Reviewer',
  'Tester',
  'Security',
  'MemoryOracle',
] as const satisfies readonly Role[];
const SUBCOMMANDS = ['add', 'list', 'show', 'cancel', 'confirm', 'import'];

interface AddOptions {
  readonly body?: string;
  readonly run?: string;
  readonly readable?: readonly string[];
  readonly writable?: readonly string[];
  readonly risk: Risk;
  readonly priority: number;
  readonly role: Role;
  readonly agent?: string;
  readonly dependsOn?: readonly string[];
  readonly expectTest?: readonly (readonly string[])[];
}

export function addTasks(parent: Command, program: Program): void {
  const group = parent
    .command('task')
    .description('add a task in a few words, or work with tasks')
    .argument('[text]', 'what is to be done');
  implement(program, group, 'roundtable task "Add a --version flag"', quickTask);
  addAdd(group, program);
  addList(group, program);
  addShow(group, program);
  addCancel(group, program);
  addConfirm(group, program);
  addImport(group, program);
}

async function quickTask(invocation: Invocation): Promise<CommandResult> {
  const { out, operands } = invocation;
  const text = operands[0]?.trim() ?? '';
  if (text === '')
    return out.fail(
      badArgument('there is no task', `write roundtable task "TEXT", or one of ${SUBCOMMANDS.join(', ')}`),
    );
  // One bare word is more likely a mistyped subcommand than a piece of work for an agent.
  if (!/\s/.test(text)) {
    const nearest = nearestWord(text, SUBCOMMANDS);
    const meant = nearest === null ? `use one of ${SUBCOMMANDS.join(', ')}` : `did you mean ${nearest}?`;
    const message = `${JSON.stringify(text)} is neither a subcommand nor a sentence`;
    return out.fail(badArgument(message, `${meant} Else write \`roundtable task add ${text}\``));
  }
  return add(invocation, null, [taskFromText(text)]);
}

function addAdd(group: Command, program: Program): void {
  const command = group
    .command('add')
    .description('add a task')
    .argument('<title>', 'one line')
    .option('--body <text>', 'what the agent reads besides the title')
    .option('--run <id>', 'run that it joins (default: the newest live one, else a new one)')
    .option('--readable <path>', 'path or glob that may be read; may be repeated', collect)
    .option('--writable <path>', 'path or glob that may be written; may be repeated', collect)
    .option('--risk <risk>', RISKS.join(', '), parseChoice('--risk', RISKS), 'normal')
    .option('--priority <n>', 'higher first', parseWhole('--priority', -1000, 1000), 0)
    .option('--role <role>', 'role that takes it', parseChoice('--role', ROLES), 'Implementer')
    .option('--agent <id>', 'only this agent')
    .option('--depends-on <id>', 'task that must be done before; may be repeated', collect)
    .option('--expect-test <argv>', 'command that must pass, as a JSON list; may be repeated', parseArgv);
  implement<AddOptions>(
    program,
    command,
    'roundtable task add "Speed up the parser" --writable src/parser --risk low',
    async (invocation) => {
      const { operands, options } = invocation;
      const task: NewTask = {
        ...taskFromText(operands[0] ?? ''),
        body: options.body ?? '',
        readablePaths: options.readable ?? null,
        writablePaths: options.writable ?? null,
        risk: options.risk,
        priority: options.priority,
        role: options.role,
        agentId: options.agent ?? null,
        dependsOn: options.dependsOn ?? [],
        expectedTests: options.expectTest ?? [],
      };
      if (task.title === '') return invocation.out.fail(badArgument('the title is empty', 'say what is to be done'));
      return add(invocation, options.run ?? null, [task]);
    },
  );
}

async function add<O>(
  invocation: Invocation<O>,
  runId: string | null,
  tasks: readonly NewTask[],
): Promise<CommandResult> {
  const { out } = invocation;
  return withEngine(invocation, 'never', 'task add', async (engine) => {
    const added = await engine.command('task.add', { runId, tasks }, 'operator');
    if (!added.ok) return out.fail(added.error);
    out.document(added.value);
    out.line(`${added.value.taskIds.join(', ')} added to ${added.value.runId}`);
    return 0;
  });
}

interface ListOptions extends PageOptions {
  readonly run?: string;
  readonly status?: string;
}

function addList(group: Command, program: Program): void {
  const command = addPaging(group.command('list').description('tasks, oldest first'))
    .option('--run <id>', 'only those of a run')
    .option('--status <status>', 'only those with this status');
  implement<ListOptions>(program, command, 'roundtable task list --status open', (invocation) =>
    withSnapshot(invocation, 'task list', ({ tasks }) => {
      const { run, status } = invocation.options;
      const fit = tasks.filter(
        (task) => (run === undefined || task.runId === run) && (status === undefined || task.status === status),
      );
      return printPage(invocation, fit, ['ID', 'RUN', 'STATUS', 'ROLE', 'TITLE'], (task) => [
        task.id,
        task.runId,
        task.status,
        task.role,
        task.title,
      ]);
    }),
  );
}

function addShow(group: Command, program: Program): void {
  const command = group.command('show').description('one task with its text and history').argument('<id>', 'task');
  implement(program, command, 'roundtable task show T-1', (invocation) =>
    withSnapshot(invocation, 'task show', (snapshot) => {
      const { out, operands } = invocation;
      const task = snapshot.tasks.find((candidate) => candidate.id === operands[0]);
      if (task === undefined) return out.fail(notFound('task', operands[0], 'task list'));
      const sessions = snapshot.sessions.filter((session) => session.taskId === task.id);
      const proposals = snapshot.proposals.filter((proposal) => proposal.taskId === task.id);
      out.document({ task, sessions: sessions.map(({ id }) => id), proposals: proposals.map(({ id }) => id) });
      for (const line of taskLines(task)) out.line(line);
      if (sessions.length > 0) out.line(`sessions   ${sessions.map(({ id, status }) => `${id} ${status}`).join(', ')}`);
      if (proposals.length > 0)
        out.line(`proposals  ${proposals.map(({ id, status }) => `${id} ${status}`).join(', ')}`);
      if (task.body !== '') out.block(`\n${task.body}`);
      return 0;
    }),
  );
}

function taskLines(task: TaskRecord): readonly string[] {
  const reason = task.statusReason === null ? '' : ` (${task.statusReason})`;
  return [
    `${task.id}  ${task.title}`,
    `status     ${task.status}${reason}`,
    `run        ${task.runId}`,
    `takes it   ${task.agentId ?? `any ${task.role}`}, risk ${task.risk}, priority ${task.priority}, attempts ${task.attempts}`,
    `may read   ${task.readablePaths.join(', ')}`,
    `may write  ${task.writablePaths.join(', ')}`,
    ...(task.dependsOn.length === 0 ? [] : [`after      ${task.dependsOn.join(', ')}`]),
    ...task.expectedTests.map((argv) => `test       ${argv.join(' ')}`),
  ];
}

function addCancel(group: Command, program: Program): void {
  const command = group
    .command('cancel')
    .description('give a task up')
    .argument('<id>', 'task')
    .option('--reason <text>', 'why');
  implement<{ readonly reason?: string }>(
    program,
    command,
    'roundtable task cancel T-1 --reason "no longer needed"',
    (invocation) =>
      withEngine(invocation, 'never', 'task cancel', async (engine) => {
        const taskId = invocation.operands[0] ?? '';
        const result = await engine.command(
          'task.cancel',
          { taskId, reason: invocation.options.reason ?? null },
          'operator',
        );
        if (!result.ok) return invocation.out.fail(result.error);
        invocation.out.document({ taskId });
        invocation.out.line(`${taskId} cancelled`);
        return 0;
      }),
  );
}

function addConfirm(group: Command, program: Program): void {
  const command = group
    .command('confirm')
    .description('open a proposed task, or close one whose session changed nothing')
    .argument('<id>', 'task');
  implement(program, command, 'roundtable task confirm T-1', (invocation) =>
    withEngine(invocation, 'never', 'task confirm', async (engine) => {
      const taskId = invocation.operands[0] ?? '';
      const result = await engine.command('task.confirm', { taskId }, 'operator');
      if (!result.ok) return invocation.out.fail(result.error);
      invocation.out.document({ taskId });
      invocation.out.line(`${taskId} confirmed`);
      return 0;
    }),
  );
}

const TASK_DIRECTORY = 'TASKS.ROUNDTABLE';

function addImport(group: Command, program: Program): void {
  const command = group
    .command('import')
    .description(`add tasks from files with YAML front matter, all or none (default: ${TASK_DIRECTORY}/*.md)`)
    .argument('[files...]', 'task files')
    .option('--run <id>', 'run that they join (default: the newest live one, else a new one)');
  implement<{ readonly run?: string }>(
    program,
    command,
    `roundtable task import ${TASK_DIRECTORY}/0001-bootstrap.md`,
    async (invocation) => {
      const { ctx, directory, out, options } = invocation;
      const given = invocation.rest;
      let files: { name: string; text: string }[];
      try {
        const names = given.length > 0 ? given : await taskFiles(directory);
        files = await Promise.all(
          names.map(async (name) => ({
            name,
            text: await readFile(path.resolve(given.length > 0 ? ctx.cwd : directory, name), 'utf8'),
          })),
        );
      } catch (cause) {
        return out.fail(
          badArgument(cause instanceof Error ? cause.message : String(cause), 'name task files that are there'),
        );
      }
      if (files.length === 0)
        return out.fail(badArgument(`there are no files in ${TASK_DIRECTORY}`, 'name the task files'));
      return withEngine(invocation, 'never', 'task import', async (engine) => {
        const imported = await engine.command('task.import', { runId: options.run ?? null, files }, 'operator');
        if (!imported.ok) return out.fail(imported.error);
        out.document(imported.value);
        out.line(`${imported.value.taskIds.join(', ')} added to ${imported.value.runId}`);
        return 0;
      });
    },
  );
}

async function taskFiles(directory: string): Promise<readonly string[]> {
  const names = await readdir(path.join(directory, TASK_DIRECTORY));
  return names
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `${TASK_DIRECTORY}/${name}`);
}
