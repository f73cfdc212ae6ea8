import os from 'node:os';
import { benchApply } from './apply.ts';
import { benchEvents } from './events.ts';
import { benchRevision } from './revision.ts';
import { benchScreen } from './screen.ts';
import { measureSessionOverhead } from './session-overhead.ts';
import { benchStart } from './start.ts';

/** Every measure with what it is compared with in the same run; names on the command line choose among them. */
const BENCHES: Readonly<Record<string, () => unknown>> = {
  start: () => benchStart(),
  events: () => benchEvents(),
  apply: () => benchApply({ files: 1_000, rounds: 3 }),
  revision: () => benchRevision(3),
  session: () => measureSessionOverhead(),
  screen: () => benchScreen(),
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) {
  process.stderr.write(
    `error: there is no bench ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}\n`,
  );
  process.exit(2);
}

const results: Record<string, unknown> = {
  machine: { node: process.version, cpus: os.availableParallelism(), loadBefore: os.loadavg()[0] },
};
for (const [name, bench] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stderr.write(`bench: ${name}\n`);
  results[name] = await bench();
}
process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
