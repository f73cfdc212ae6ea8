/**
 * A whole engine in a process of its own that kills itself, or is killed, during a transaction. Arguments: one JSON text
 * `{world, operation, revision, id, killBefore}`; `killBefore`: changing call before which it dies, counted from 0, or
 * `{name, occurrence}`, or null to run to the end. Says `ready` when the transaction begins.
 */
import { observed } from './crash.ts';
import { type Operation, play } from './scenario.ts';
import { openEngine, type Revision, type World } from './world.ts';

export interface KillOrder {
  readonly world: World;
  readonly operation: Operation;
  readonly revision: Revision;
  readonly id: string;
  readonly killBefore: number | { readonly name: string; readonly occurrence: number } | null;
}

const order = JSON.parse(process.argv[2] ?? '') as KillOrder;
let count = 0;
const seen = new Map<string, number>();
const engine = await openEngine(order.world, (parts) =>
  observed(parts, (name) => {
    const occurrence = seen.get(name) ?? 0;
    seen.set(name, occurrence + 1);
    const { killBefore } = order;
    const now =
      typeof killBefore === 'number'
        ? count === killBefore
        : killBefore?.name === name && killBefore.occurrence === occurrence;
    count += 1;
    if (now) process.kill(process.pid, 'SIGKILL');
  }),
);
process.stdout.write('ready\n');
await play(order.world, engine, order.operation, order.revision, order.id);
process.stdout.write(`${JSON.stringify({ count })}\n`);
engine.close();
