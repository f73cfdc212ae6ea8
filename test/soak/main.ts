import { run as sessionDeadlines } from './session-deadlines.ts';
import { run as supervisorKills } from './supervisor-kills.ts';
import { run as transactionKills } from './transaction-kills.ts';

/**
 * Long runs with the same code as the tests and larger counts: `npm run soak [-- NAME[=COUNT] …]`. Prints what each one
 * counted as JSON; exit 1 when anything was wrong. `SOAK_SEED` repeats a run.
 */
const SOAKS: Readonly<
  Record<
    string,
    { readonly count: number; readonly run: (options: { count: number; seed: number }) => Promise<object> }
  >
> = {
  'transaction-kills': { count: 10_000, run: transactionKills },
  'session-deadlines': { count: 1, run: sessionDeadlines },
  'supervisor-kills': { count: 200, run: supervisorKills },
};

const seed = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000);
const asked = process.argv.slice(2).map((argument) => argument.split('='));
const unknown = asked.filter(([name]) => !Object.hasOwn(SOAKS, name ?? ''));
if (unknown.length > 0) {
  process.stderr.write(
    `error: there is no soak ${unknown.map(([name]) => name).join(', ')}; there are ${Object.keys(SOAKS).join(', ')}\n`,
  );
  process.exit(2);
}

const results: Record<string, unknown> = { seed };
let wrong = false;
for (const [name, soak] of Object.entries(SOAKS)) {
  const chosen = asked.find(([wanted]) => wanted === name);
  if (asked.length > 0 && !chosen) continue;
  const count = Number(chosen?.[1] ?? soak.count);
  process.stderr.write(`soak: ${name}, ${count} rounds, seed ${seed}\n`);
  const from = performance.now();
  const result = await soak.run({ count, seed });
  results[name] = { ...result, seconds: Math.round((performance.now() - from) / 1000) };
  wrong ||= hasFaults(result);
}
process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
process.exitCode = wrong ? 1 : 0;

function hasFaults(result: object): boolean {
  return Object.values(result).some((value) => Array.isArray(value) && value.length > 0);
}
