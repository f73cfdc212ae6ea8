import type { Engine, Ownership, Snapshot } from '../../src/engine/api.ts';
import type { CommandResult } from './context.ts';
import type { Invocation } from './invocation.ts';

/** Opens the engine of the project, does the work, and lets go whatever happens. */
export async function withEngine<O>(
  invocation: Invocation<O>,
  ownership: Ownership,
  command: string,
  work: (engine: Engine) => Promise<CommandResult>,
): Promise<CommandResult> {
  const { ctx, directory, out } = invocation;
  const opened = await ctx.app.open({ directory, ownership, command: `roundtable ${command}`.trim() });
  if (!opened.ok) return out.fail(opened.error);
  try {
    return await work(opened.value);
  } finally {
    await opened.value.close('stop');
  }
}

/** For commands that only look. */
export async function withSnapshot<O>(
  invocation: Invocation<O>,
  command: string,
  work: (snapshot: Snapshot, engine: Engine) => Promise<CommandResult> | CommandResult,
): Promise<CommandResult> {
  return withEngine(invocation, 'never', command, async (engine) => work(await engine.query('snapshot', {}), engine));
}
