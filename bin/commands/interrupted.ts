import type { CommandContext } from './context.ts';

/** Exit code of a process that was asked to stop: the entry gives it as the signal's reason; else 130 (SIGINT). */
export function interruptExit(signal: AbortSignal): number {
  return typeof signal.reason === 'number' ? signal.reason : 130;
}

/**
 * Fires when the process is asked to stop or nobody reads its output any more (`| head`): the end of commands that only
 * show what happens. Commands that do work look at the interrupt alone.
 */
export function endOfWatching(ctx: CommandContext): AbortSignal {
  const gone = new AbortController();
  for (const event of ['error', 'close']) ctx.stdout.once(event, () => gone.abort(0));
  return AbortSignal.any([ctx.interrupt, gone.signal]);
}
