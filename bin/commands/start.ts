import type { Command } from 'commander';
import { followEvents } from './event-stream.ts';
import { eventText } from './event-text.ts';
import { interruptExit } from './interrupted.ts';
import { implement, type Program } from './invocation.ts';
import { badArgument } from './usage.ts';
import { withEngine } from './with-engine.ts';

export function addStart(parent: Command, program: Program): void {
  const command = parent
    .command('start')
    .description('run the engine without a screen, until it is interrupted')
    .option('--http <address>', 'address of the HTTP server, or off', 'off');
  implement<{ readonly http: string }>(program, command, 'roundtable start --json', async (invocation) => {
    const { ctx, out, options } = invocation;
    if (options.http !== 'off') {
      return out.fail(
        badArgument(`--http ${options.http}: this version serves nothing over HTTP`, 'leave it out or write off'),
      );
    }
    return withEngine(invocation, 'require', 'start', async (engine) => {
      const { lastEventId, project } = await engine.query('snapshot', {});
      out.document({ type: 'started', root: project.root, lastEventId });
      out.line(`engine of ${project.root} is running; stop it with Ctrl-C`);
      const print = (event: Parameters<typeof eventText>[0]) => {
        out.document({ type: 'event', event });
        out.line(eventText(event));
      };
      await followEvents(engine, {}, lastEventId, print, ctx.interrupt);
      const exit = interruptExit(ctx.interrupt);
      // The terminal went away, nobody asked for an end: sessions that are under way may finish.
      if (exit === HANGUP) await engine.close('drain');
      return exit;
    });
  });
}

const HANGUP = 129;
