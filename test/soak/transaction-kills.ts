import { rmSync } from 'node:fs';
import { git } from '../support/transactions/git.ts';
import { buildKillChild, runKillChild } from '../support/transactions/kill.ts';
import {
  CHANGES,
  editOf,
  interrupted,
  noEdit,
  type Operation,
  prepareScenario,
  type Scenario,
} from '../support/transactions/scenario.ts';
import { destroyWorld, type World } from '../support/transactions/world.ts';

export interface TransactionKillsResult {
  readonly runs: number;
  readonly killed: number;
  readonly withEdit: number;
  readonly applied: number;
  readonly aborted: number;
  /** Interrupted so early that there was no row. */
  readonly unrecorded: number;
  /** One text per wrong run, with the seed and position to repeat it. */
  readonly wrong: readonly string[];
}

/**
 * Real processes, killed at random moments of random transactions, each followed by a random edit of the user (or none)
 * and a recovery; everything is then judged. Half of the kills come at a changing call, half at any time from outside.
 */
export async function run(options: { readonly count: number; readonly seed: number }): Promise<TransactionKillsResult> {
  const random = generator(options.seed);
  const child = await buildKillChild();
  const scenarios = new Map<string, Scenario>();
  const totals = { runs: 0, killed: 0, withEdit: 0, applied: 0, aborted: 0, unrecorded: 0 };
  const wrong: string[] = [];
  try {
    for (let run = 0; run < options.count; run += 1) {
      const [operation, name] = [pick(random, OPERATIONS), pick(random, Object.keys(CHANGES))];
      const scenario = scenarios.get(`${operation} ${name}`) ?? (await prepareScenario(CHANGES[name] ?? {}, operation));
      scenarios.set(`${operation} ${name}`, scenario);
      const byCall = random() < 0.5;
      const edit = random() < 0.5 ? editOf(pick(random, scenario.touched)) : noEdit;
      const killBefore = byCall ? Math.floor(random() * 120) : null;
      const killAfterMs = byCall ? null : Math.floor(random() * 600);
      const outcome = await interrupted(
        scenario,
        async (world) => {
          const { revision } = scenario;
          const order = { world, operation, revision, id: scenario.expectation.transactionId, killBefore };
          const result = await runKillChild(child, order, killAfterMs);
          if (result.signal === 'SIGKILL') totals.killed += 1;
          else if (result.complaints !== '') wrong.push(`run ${run}: ${result.complaints}`);
        },
        edit,
        run % 10 === 0 ? fsck : undefined,
      );
      totals.runs += 1;
      if (outcome.edited) totals.withEdit += 1;
      if (outcome.status === 'applied') totals.applied += 1;
      else if (outcome.status === 'aborted') totals.aborted += 1;
      else totals.unrecorded += 1;
      if (outcome.problems.length > 0)
        wrong.push(
          `seed ${options.seed} run ${run} ${scenario.operation} of ${scenario.touched.join(' ')}, killed before ` +
            `${killBefore} or after ${killAfterMs} ms: ${outcome.problems.join('; ')}`,
        );
    }
  } finally {
    for (const scenario of scenarios.values()) destroyWorld(scenario.template);
    rmSync(child, { force: true });
  }
  return { ...totals, wrong };
}

const OPERATIONS: readonly Operation[] = ['apply', 'rollback', 'apply-uncommitted'];

function fsck(world: World): void {
  git(world.project, ['fsck', '--strict', '--no-dangling']);
}

function pick<T>(random: () => number, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

/** Mulberry32: small, repeatable, good enough to choose moments. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
