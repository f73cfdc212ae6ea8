import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildKillChild, runKillChild } from '../../support/transactions/kill.ts';
import {
  CHANGES,
  editOf,
  interrupted,
  noEdit,
  type Operation,
  prepareScenario,
  type Scenario,
} from '../../support/transactions/scenario.ts';
import { destroyWorld } from '../../support/transactions/world.ts';

/** Moments by the step that has just ended and the call that would have come next. */
const MOMENTS: readonly (readonly [string, string, number])[] = [
  ['objects copied', 'git.stage', 0],
  ['result staged', 'git.createCommit', 0],
  ['commit object made, not journaled', 'journal.prepare', 0],
  ['prepared', 'journal.phaseStarted', 0],
  ['index locked', 'git.lockRef', 0],
  ['git for the reference started', 'journal.phaseStarted', 1],
  ['reference locked', 'journal.phaseStarted', 2],
  ['verified, not recorded', 'journal.verified', 0],
  ['staged files synced', 'journal.applying', 0],
  ['applying, nothing changed yet', 'fs.link', 1],
  ['first backup made', 'fs.link', 2],
  ['some files in place', 'fs.rename', 2],
  ['all files in place', 'git.commit', 0],
  ['committed', 'journal.phaseEnded', 6],
  ['index about to be renamed', 'journal.phaseStarted', 7],
  ['index renamed, not settled', 'journal.close', 0],
  ['settled, backups still there', 'git.refreshIndex', 0],
];

const OPERATIONS: readonly Operation[] = ['apply', 'rollback', 'apply-uncommitted'];
let child = '';
const scenarios = new Map<Operation, Scenario>();
beforeAll(async () => {
  child = await buildKillChild();
  for (const operation of OPERATIONS) scenarios.set(operation, await prepareScenario(CHANGES.mixed ?? {}, operation));
}, 300_000);
afterAll(() => {
  for (const scenario of scenarios.values()) destroyWorld(scenario.template);
  rmSync(child, { force: true });
});

describe.each(OPERATIONS)('a process that is killed with SIGKILL during %s', (operation) => {
  it.each(MOMENTS)(
    'when: %s',
    async (moment, name, occurrence) => {
      const scenario = scenarios.get(operation);
      if (scenario === undefined) throw new Error('no scenario');
      // Without a commit there is no call for it, and one step less.
      const committing = name === 'git.commit' || name === 'git.createCommit' || occurrence === 7;
      const absent = operation === 'apply-uncommitted' && committing;
      // Both ways for the operation that matters most, in turn for the others.
      const both = [noEdit, editOf('src/a.txt')];
      const turn = MOMENTS.findIndex(([text]) => text === moment) % 2;
      for (const later of operation === 'apply' ? both : both.slice(turn, turn + 1)) {
        let signal: string | null = null;
        let complaints = '';
        const run = await interrupted(
          scenario,
          async (world) => {
            const { revision } = scenario;
            const id = scenario.expectation.transactionId;
            const result = await runKillChild(
              child,
              { world, operation, revision, id, killBefore: { name, occurrence } },
              null,
            );
            signal = result.signal;
            complaints = result.complaints;
          },
          later,
        );
        expect({ signal, complaints }).toEqual({ signal: absent ? null : 'SIGKILL', complaints: '' });
        expect(run.problems).toEqual([]);
      }
    },
    120_000,
  );
});
