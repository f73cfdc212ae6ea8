import { afterAll, describe, expect, it } from 'vitest';
import { crashingAt } from '../../support/transactions/crash.ts';
import {
  CHANGES,
  editOf,
  interrupted,
  noEdit,
  type Operation,
  playWrapped,
  prepareScenario,
  type Scenario,
} from '../../support/transactions/scenario.ts';
import { destroyWorld } from '../../support/transactions/world.ts';

/** Every n-th changing call is a moment of death here; the soak takes them all. */
const STRIDE = Number(process.env.ROUNDTABLE_CRASH_STRIDE ?? 12);

const CASES: readonly (readonly [string, Operation, number])[] = [
  ['mixed', 'apply', STRIDE],
  ['mixed', 'rollback', STRIDE],
  ['mixed', 'apply-uncommitted', STRIDE],
  ['edit', 'apply', STRIDE],
  ['add', 'apply', STRIDE * 2],
  ['delete', 'apply', STRIDE * 2],
  ['swap', 'rollback', STRIDE],
  ['mode', 'apply', STRIDE * 2],
];

const made: Scenario[] = [];
afterAll(() => {
  for (const scenario of made) destroyWorld(scenario.template);
});

describe.each(CASES)('an engine that dies while it makes the change "%s" (%s)', (name, operation, stride) => {
  it('leaves the target wholly changed or wholly as it was, with and without a later edit of the user', async () => {
    const change = CHANGES[name] ?? {};
    const scenario = await prepareScenario(change, operation);
    made.push(scenario);
    const wrong: Record<string, string[]> = {};
    const outcomes = new Set<string>();
    let edited = 0;
    for (let at = 0, alive = false; !alive; at += stride) {
      for (const edits of [false, true]) {
        const crash = crashingAt(at);
        const touched = scenario.touched[(at / stride) % scenario.touched.length] ?? '';
        const run = await interrupted(
          scenario,
          (world) => playWrapped(world, scenario, crash.wrap),
          edits ? editOf(touched) : noEdit,
        );
        alive = crash.reached() === null;
        outcomes.add(run.status ?? 'none');
        if (run.edited) edited += 1;
        if (run.problems.length > 0)
          wrong[`before ${at} ${crash.reached()}, edit ${edits ? touched : 'none'}`] = run.problems;
      }
    }
    expect(wrong).toEqual({});
    expect([...outcomes]).toEqual(expect.arrayContaining(['applied', 'aborted']));
    expect(edited).toBeGreaterThan(0);
  }, 600_000);
});
