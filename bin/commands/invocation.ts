import path from 'node:path';
import type { Command } from 'commander';
import type { CommandContext, CommandResult, GlobalOptions } from './context.ts';
import { createOutput, type Output } from './output.ts';

/** One call of one command: what was typed, and where its words go. */
export interface Invocation<Options = Record<string, never>> {
  readonly ctx: CommandContext;
  readonly globals: GlobalOptions;
  /** Absolute: `--root`, else the directory of the process. */
  readonly directory: string;
  readonly out: Output;
  /** Declared operands in order; an optional one that was left out is undefined. */
  readonly operands: readonly (string | undefined)[];
  /** What a repeatable last operand took; else empty. */
  readonly rest: readonly string[];
  readonly options: Options;
}

/** The process's side of a command tree: every command leaves its exit code here. */
export interface Program {
  readonly ctx: CommandContext;
  exitCode: CommandResult;
}

/** Makes `run` what a command does, and its example part of its help. */
export function implement<Options = Record<string, never>>(
  program: Program,
  command: Command,
  example: string,
  run: (invocation: Invocation<Options>) => Promise<CommandResult>,
): void {
  withExample(command, example);
  command.action(async () => {
    const globals = globalOptions(command, program.ctx);
    const given = command.processedArgs as (string | string[] | undefined)[];
    program.exitCode = await run({
      ctx: program.ctx,
      globals,
      directory: path.resolve(program.ctx.cwd, globals.root ?? '.'),
      out: createOutput({ ...program.ctx, ...globals }),
      operands: given.filter((operand): operand is string | undefined => !Array.isArray(operand)),
      rest: given.filter((operand) => Array.isArray(operand)).flat(),
      options: command.opts() as Options,
    });
  });
}

export function withExample(command: Command, example: string): void {
  command.addHelpText('after', `\nExample:\n  $ ${example}`);
}

function globalOptions(command: Command, ctx: CommandContext): GlobalOptions {
  const given = command.optsWithGlobals<{ root?: string; json?: boolean; quiet?: boolean; color?: boolean }>();
  const plain = given.color === false || (ctx.env.NO_COLOR ?? '') !== '' || ctx.env.TERM === 'dumb';
  return {
    root: given.root ?? null,
    json: given.json === true,
    quiet: given.quiet === true,
    color: !plain && ctx.stdout.isTTY === true,
  };
}
