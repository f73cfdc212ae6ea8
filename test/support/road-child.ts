/**
 * Owns the engine of a project in a process of its own, until it is killed or its input ends. Arguments: one JSON text
 * `{directory, ownership}`. Says `ready <pid>` when the engine is open.
 */
import { createApplication } from '../../bin/compose.ts';
import type { Ownership } from '../../src/engine/api.ts';

export interface RoadChildOrder {
  readonly directory: string;
  readonly ownership: Ownership;
}

const order = JSON.parse(process.argv[2] ?? '') as RoadChildOrder;
const opened = await createApplication(process.env).open({ ...order, command: 'road-child' });
if (!opened.ok) throw new Error(`${opened.error.code}: ${opened.error.message}`);
process.stdout.write(`ready ${process.pid}\n`);
for await (const _ of process.stdin);
await opened.value.close('stop');
