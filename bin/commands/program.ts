import { inspect } from 'node:util';
import { Command, CommanderError } from 'commander';
import { sanitizeLine, sanitizeText } from '../../src/tui/text/sanitize.ts';
import { addAgents } from './agents.ts';
import { addClaims } from './claims.ts';
import { addCompletion } from './completion.ts';
import { addConfig } from './config.ts';
import type { CommandContext, CommandResult } from './context.ts';
import { addDemo } from './demo-command.ts';
import { addEvents } from './events.ts';
import { addImage } from './image.ts';
import { addInit } from './init.ts';
import type { Program } from './invocation.ts';
import { createOutput, inertJson } from './output.ts';
import { addProposals } from './proposals.ts';
import { addRun } from './run.ts';
import { addRuns } from './runs.ts';
import { addScreen } from './screen.ts';
import { addSessions } from './sessions.ts';
import { addStart } from './start.ts';
import { addTable } from './table.ts';
import { addTasks } from './tasks.ts';
import { addTransactions } from './transactions.ts';
import { BadValue, usageError } from './usage.ts';
import { addWatch } from './watch.ts';

/**
 * Runs one command line (without the program's own name) and answers the exit code. Never throws: a bug is reported in
 * one line too, its stack only with ROUNDTABLE_DEBUG=1.
 */
export async function runProgram(argv: readonly string[], ctx: CommandContext): Promise<CommandResult> {
  const program: Program = { ctx, exitCode: 0 };
  const complaints: string[] = [];
  const root = buildProgram(program, (text) => complaints.push(text));
  try {
    await root.parseAsync([...argv], { from: 'user' });
    return program.exitCode;
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) return reportBug(thrown, ctx, asksForJson(argv));
    const error = thrown instanceof BadValue ? thrown.error : usageError(thrown, complaints.join(''));
    return error === null ? 0 : createOutput({ ...ctx, json: asksForJson(argv), quiet: false }).fail(error);
  }
}

/** The options may be what is wrong, so whether JSON was asked for is looked up in the words themselves. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json');
}

function reportBug(thrown: unknown, ctx: CommandContext, json: boolean): CommandResult {
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  const message = `this is a mistake in the program: ${words}`;
  const remedy = 'run it again with ROUNDTABLE_DEBUG=1 and report what it prints';
  if (json) ctx.stdout.write(`${inertJson({ error: { code: 'internal', message, remedy } })}\n`);
  else ctx.stderr.write(`${sanitizeLine(`error: ${message}; ${remedy}`)}\n`);
  if (ctx.env.ROUNDTABLE_DEBUG === '1') ctx.stderr.write(`${sanitizeText(inspect(thrown))}\n`);
  return 1;
}

/** The whole command tree. `onComplaint` gets what commander would print to stderr; we print our own line instead. */
export function buildProgram(program: Program, onComplaint: (text: string) => void): Command {
  const { ctx } = program;
  const root = new Command('roundtable')
    .description('Direct a team of sealed coding agents on one git repository.')
    .version(ctx.version, '--version', 'print the version')
    .helpOption('--help', 'print help')
    .helpCommand(false)
    .option('--root <dir>', 'project directory (default: found from here)')
    .option('--json', 'one JSON document, or JSON lines for what streams')
    .option('--quiet', 'no remarks')
    .option('--no-color', 'no colours')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => ctx.stdout.write(text),
      writeErr: onComplaint,
      getOutHelpWidth: () => ctx.stdout.columns ?? 100,
      getErrHelpWidth: () => 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  addScreen(root, program);
  addInit(root, program);
  addRun(root, program);
  addTasks(root, program);
  addRuns(root, program);
  addStart(root, program);
  addWatch(root, program);
  addTable(root, program);
  addProposals(root, program);
  addTransactions(root, program);
  addSessions(root, program);
  addAgents(root, program);
  addClaims(root, program);
  addConfig(root, program);
  addImage(root, program);
  addEvents(root, program);
  addDemo(root, program);
  addCompletion(root, program);
  return root;
}
