import type { Command } from 'commander';
import type { Engine, EventRecord, Snapshot } from '../../src/engine/api.ts';
import type { CommandResult } from './context.ts';
import { followEvents } from './event-stream.ts';
import { eventText } from './event-text.ts';
import { endOfWatching, interruptExit } from './interrupted.ts';
import { type Invocation, implement, type Program } from './invocation.ts';
import { notFound } from './not-found.ts';
import { screenIo } from './screen.ts';
import { parseWhole } from './values.ts';
import { withEngine } from './with-engine.ts';

interface Options {
  readonly run?: string;
  readonly once?: boolean;
  readonly limit: number;
}

export function addWatch(parent: Command, program: Program): void {
  const command = parent
    .command('watch')
    .description('a compact live view for a narrow pane; works whether the engine runs or not')
    .option('--run <id>', 'only this run')
    .option('--once', 'print the state and end')
    .option('--limit <n>', 'events to begin with, 1 to 200', parseWhole('--limit', 1, 200), 20);
  implement<Options>(program, command, 'roundtable watch', (invocation) =>
    withEngine(invocation, 'never', 'watch', async (engine) => {
      const { ctx, out, options } = invocation;
      const snapshot = await engine.query('snapshot', {});
      if (options.run !== undefined && !snapshot.runs.some((run) => run.id === options.run)) {
        return out.fail(notFound('run', options.run, 'runs list'));
      }
      if (options.once === true) return once(invocation, engine, snapshot);
      if (out.json || ctx.stdout.isTTY !== true || ctx.stdin.isTTY !== true) return follow(invocation, engine);
      const { runWatch } = await import('../../src/tui/watch.tsx');
      return runWatch(engine, screenIo(ctx), { runId: options.run ?? null, limit: options.limit });
    }),
  );
}

async function once({ out, options }: Invocation<Options>, engine: Engine, snapshot: Snapshot): Promise<CommandResult> {
  const fits = (item: { readonly runId: string }) => options.run === undefined || item.runId === options.run;
  const runs = snapshot.runs.filter((run) => options.run === undefined || run.id === options.run);
  const tasks = snapshot.tasks.filter(fits);
  const sessions = snapshot.sessions.filter(fits).filter((session) => session.endedAt === null);
  const proposals = snapshot.proposals.filter(fits);
  const events = await newest(engine, options);
  const { lastEventId, at, attention } = snapshot;
  out.document({ lastEventId, at, engine: snapshot.engine, runs, tasks, sessions, proposals, attention, events });
  for (const run of runs) out.line(`${run.id} ${run.status}  ${run.goal}`);
  for (const task of tasks) out.line(`${task.id} ${task.status}  ${task.title}`);
  for (const session of sessions)
    out.line(`${session.id} ${session.status}  ${session.agentId} on ${session.taskId ?? 'the run'}`);
  for (const proposal of proposals) out.line(`${proposal.id} ${proposal.status}  ${proposal.title}`);
  for (const item of attention) out.line(`! ${item.text}`);
  for (const event of events) out.line(eventText(event));
  return 0;
}

async function follow({ ctx, out, options }: Invocation<Options>, engine: Engine): Promise<CommandResult> {
  const end = endOfWatching(ctx);
  const events = await newest(engine, options);
  const print = (event: EventRecord) => {
    out.document({ type: 'event', event });
    out.line(eventText(event));
  };
  for (const event of events) print(event);
  // Without an event to go on from, everything that comes is new.
  await followEvents(engine, { runId: options.run }, events.at(-1)?.id ?? 0, print, end);
  return interruptExit(end);
}

/** The newest events in ascending order, whichever way the engine hands them out. */
async function newest(engine: Engine, options: Options): Promise<readonly EventRecord[]> {
  const events = await engine.query('events', { runId: options.run, limit: options.limit, newest: true });
  return [...events].sort((a, b) => a.id - b.id);
}
