import type { Command } from 'commander';
import type { EventRecord } from '../../src/engine/api.ts';
import { followEvents } from './event-stream.ts';
import { eventText } from './event-text.ts';
import { endOfWatching, interruptExit } from './interrupted.ts';
import { implement, type Program } from './invocation.ts';
import { DEFAULT_LIMIT } from './page.ts';
import { parseWhole } from './values.ts';
import { withEngine } from './with-engine.ts';

interface Options {
  readonly run?: string;
  readonly type?: string;
  readonly entity?: string;
  readonly after: number;
  readonly limit: number;
  readonly follow?: boolean;
}

export function addEvents(parent: Command, program: Program): void {
  const command = parent
    .command('events')
    .description('the log of everything that happened, ascending; with --json one event per line')
    .option('--run <id>', 'only those of a run')
    .option('--type <type>', 'only those of a type, e.g. proposal.in_review')
    .option('--entity <entity>', 'only those of a kind of thing or of one, e.g. proposal or proposal:P-3')
    .option('--after <n>', 'only those after this event id', parseWhole('--after', 0, Number.MAX_SAFE_INTEGER), 0)
    .option('--limit <n>', 'at most so many, 1 to 200; not with -f', parseWhole('--limit', 1, 200), DEFAULT_LIMIT)
    .option('-f, --follow', 'go on with what happens until interrupted');
  implement<Options>(program, command, 'roundtable events --entity proposal:P-1 -f', (invocation) =>
    withEngine(invocation, 'never', 'events', async (engine) => {
      const { ctx, out, options } = invocation;
      const [entity, ...rest] = (options.entity ?? '').split(':');
      const filter = {
        runId: options.run,
        type: options.type,
        entity: entity === '' ? undefined : entity,
        entityId: rest.length === 0 ? undefined : rest.join(':'),
      };
      const print = (event: EventRecord) => {
        out.document(event);
        out.line(eventText(event));
      };
      if (options.follow === true) {
        const end = endOfWatching(ctx);
        await followEvents(engine, filter, options.after, print, end);
        return interruptExit(end);
      }
      const events = await engine.query('events', { ...filter, afterId: options.after, limit: options.limit });
      for (const event of events) print(event);
      const last = events.at(-1);
      if (!out.json && events.length === options.limit && last !== undefined) out.note(`more: --after ${last.id}`);
      return 0;
    }),
  );
}
