import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import {
  type ApproveMode,
  type Engine,
  type EngineError,
  engineError,
  err,
  isTerminal,
  ok,
  type Result,
} from '../../src/engine/api.ts';
import { type Invocation, implement, type Program } from './invocation.ts';
import { taskFromText } from './new-task.ts';
import { showScreen } from './screen.ts';
import { streamRun } from './stream-run.ts';
import { badArgument } from './usage.ts';
import { collect, parseChoice, parseDuration, parseWhole } from './values.ts';
import { withEngine } from './with-engine.ts';

interface Options {
  readonly goal?: string;
  readonly task?: readonly string[];
  readonly scope?: readonly string[];
  readonly target?: string;
  readonly resume?: string | true;
  readonly headless?: boolean;
  readonly maxIterations?: number;
  readonly timeout?: number;
  readonly approve?: 'policy' | 'never';
}

export function addRun(parent: Command, program: Program): void {
  const command = parent
    .command('run')
    .description('make or resume a run and drive it, on the screen or without one')
    .option('--goal <text>', 'what the run is for; without --task also its only task')
    .option('--task <file>', 'task file with YAML front matter; may be repeated', collect)
    .option('--scope <glob>', 'paths that tasks may touch when they do not say; may be repeated', collect)
    .option('--target <ref>', 'branch that changes land on (default: the one checked out)')
    .option('--resume [id]', 'go on with a run (default: the newest that is not finished)')
    .option('--headless', 'no screen: print events, then a summary')
    .option('--max-iterations <n>', 'stop after so many sessions', parseWhole('--max-iterations', 1, 1_000_000))
    .option('--timeout <time>', 'stop after 90s, 30m or 2h', parseDuration)
    .option(
      '--approve <mode>',
      'policy: your approval only where the policy asks for it; never: apply nothing',
      parseChoice('--approve', ['policy', 'never'] as const),
    );
  implement<Options>(program, command, 'roundtable run --headless --task task.md --approve policy --json', run);
}

async function run(invocation: Invocation<Options>): Promise<number> {
  const { ctx, out, options } = invocation;
  const complaint = complainAbout(invocation);
  if (complaint !== null) return out.fail(complaint);
  const files = await readTaskFiles(invocation);
  if (!files.ok) return out.fail(files.error);
  return withEngine(invocation, 'require', 'run', async (engine) => {
    const { lastEventId } = await engine.query('snapshot', {});
    const started =
      options.resume === undefined ? await create(engine, options, files.value) : await resume(engine, options);
    if (!started.ok) return out.fail(started.error);
    if (options.headless !== true) return showScreen(engine, ctx);
    return streamRun({
      app: ctx.app,
      engine,
      runId: started.value,
      afterEventId: lastEventId,
      out,
      interrupt: ctx.interrupt,
    });
  });
}

function complainAbout({ ctx, globals, options }: Invocation<Options>): EngineError | null {
  const { goal, task, scope, target } = options;
  const making = [goal, task, scope, target].some((value) => value !== undefined);
  if (options.resume !== undefined && making) {
    return badArgument('--resume goes on with a run as it is', 'leave out --goal, --task, --scope and --target');
  }
  if (options.resume === undefined && goal === undefined && task === undefined) {
    return badArgument('there is nothing to do', 'give --goal TEXT, --task FILE or --resume');
  }
  if (options.headless === true) return null;
  if (globals.json) return badArgument('--json has no meaning on the screen', 'add --headless');
  const onTerminal = ctx.stdin.isTTY === true && ctx.stdout.isTTY === true;
  return onTerminal ? null : badArgument('the screen needs a terminal', 'add --headless');
}

type TaskText = { readonly name: string; readonly text: string };

async function readTaskFiles({ ctx, options }: Invocation<Options>): Promise<Result<readonly TaskText[], EngineError>> {
  const files: TaskText[] = [];
  for (const name of options.task ?? []) {
    try {
      files.push({ name, text: await readFile(path.resolve(ctx.cwd, name), 'utf8') });
    } catch (cause) {
      const words = cause instanceof Error ? cause.message : String(cause);
      return err(badArgument(`the task file ${name} can not be read: ${words}`, 'name a file that is there'));
    }
  }
  return ok(files);
}

async function create(
  engine: Engine,
  options: Options,
  files: readonly TaskText[],
): Promise<Result<string, EngineError>> {
  const created = await engine.command(
    'run.create',
    {
      goal: options.goal ?? `tasks of ${files.map((file) => file.name).join(', ')}`,
      scope: options.scope ?? [],
      targetRef: options.target ?? null,
      approveMode: approveMode(options),
      maxIterations: options.maxIterations ?? null,
      timeoutMs: options.timeout ?? null,
    },
    'operator',
  );
  if (!created.ok) return created;
  const { runId } = created.value;
  const filled =
    files.length > 0
      ? await engine.command('task.import', { runId, files }, 'operator')
      : await engine.command('task.add', { runId, tasks: [taskFromText(options.goal ?? '')] }, 'operator');
  if (filled.ok) return ok(runId);
  // A run without its tasks would stay behind as live; the refusal of the tasks is what matters to the caller.
  await engine.command('run.stop', { runId }, 'operator');
  return filled;
}

async function resume(engine: Engine, options: Options): Promise<Result<string, EngineError>> {
  const { runs } = await engine.query('snapshot', {});
  const unfinished = runs.filter((candidate) => !isTerminal('run', candidate.status));
  const wanted =
    options.resume === true ? unfinished.at(-1) : runs.find((candidate) => candidate.id === options.resume);
  if (wanted === undefined) {
    const what = options.resume === true ? 'there is no unfinished run' : `there is no run ${options.resume}`;
    return err(engineError('not_found', what, 'list them with `roundtable runs list`'));
  }
  const changes = options.approve !== undefined || options.maxIterations !== undefined || options.timeout !== undefined;
  // A run that was killed is still active: nothing needs to change for it to go on.
  if (wanted.status === 'active' && !changes) return ok(wanted.id);
  const resumed = await engine.command(
    'run.resume',
    {
      runId: wanted.id,
      ...(options.approve === undefined ? {} : { approveMode: options.approve }),
      ...(options.maxIterations === undefined ? {} : { maxIterations: options.maxIterations }),
      ...(options.timeout === undefined ? {} : { timeoutMs: options.timeout }),
    },
    'operator',
  );
  return resumed.ok ? ok(wanted.id) : resumed;
}

function approveMode(options: Options): ApproveMode {
  return options.approve ?? 'policy';
}
