import type { Command } from 'commander';
import type { Engine } from '../../src/engine/api.ts';
import type { CommandContext, CommandResult } from './context.ts';
import { implement, type Program } from './invocation.ts';
import { nearestWord } from './nearest-word.ts';
import { badArgument } from './usage.ts';
import { withEngine } from './with-engine.ts';

/** `roundtable` alone: the screen, owning the engine if it is free. */
export function addScreen(root: Command, program: Program): void {
  // The operand takes what is no command, so that the complaint can name the nearest one.
  root.usage('[options] [command]').argument('[words...]');
  implement(program, root, 'roundtable', async (invocation) => {
    const { ctx, globals, out, rest } = invocation;
    const [unknown] = rest;
    if (unknown !== undefined) {
      const nearest = nearestWord(
        unknown,
        root.commands.map((command) => command.name()),
      );
      const remedy = nearest === null ? 'see `roundtable --help`' : `did you mean ${nearest}?`;
      return out.fail(badArgument(`unknown command ${JSON.stringify(unknown)}`, remedy));
    }
    if (globals.json || ctx.stdin.isTTY !== true || ctx.stdout.isTTY !== true) {
      const remedy = 'use `roundtable table`, `roundtable watch --once` or `roundtable run --headless`';
      return out.fail(badArgument('the screen needs a terminal', remedy));
    }
    return withEngine(invocation, 'prefer', '', (engine) => showScreen(engine, ctx));
  });
}

/** The screen on an engine that is open. Loaded only when it is shown: it is the heaviest part of the program. */
export async function showScreen(engine: Engine, ctx: CommandContext): Promise<CommandResult> {
  const { runTui } = await import('../../src/tui/main.tsx');
  return runTui(engine, screenIo(ctx));
}

/** The process's edges as the screens take them: they want to know which signal it was. */
export function screenIo(ctx: CommandContext): CommandContext & { readonly signal: AbortSignal } {
  const ended = new AbortController();
  const tell = () => ended.abort(SIGNAL_OF_EXIT[String(ctx.interrupt.reason)] ?? 'SIGTERM');
  if (ctx.interrupt.aborted) tell();
  else ctx.interrupt.addEventListener('abort', tell, { once: true });
  return { ...ctx, signal: ended.signal };
}

/** Exit codes, which the entry gives as the reason, and the signals that they stand for. */
const SIGNAL_OF_EXIT: Readonly<Record<string, string>> = { 129: 'SIGHUP', 130: 'SIGINT', 143: 'SIGTERM' };
