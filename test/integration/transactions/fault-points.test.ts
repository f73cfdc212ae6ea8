import { afterAll, describe, expect, it } from 'vitest';
import type { TransactionId } from '../../../src/engine/domain/ids.ts';
import { observed } from '../../support/transactions/crash.ts';
import { judge } from '../../support/transactions/judge.ts';
import { CHANGES, prepareScenario, type Scenario } from '../../support/transactions/scenario.ts';
import {
  applyRequest,
  copyWorld,
  destroyWorld,
  never,
  openEngine,
  settleInto,
} from '../../support/transactions/world.ts';

const STRIDE = Number(process.env.ROUNDTABLE_CRASH_STRIDE ?? 12);
const FAULTS = ['ENOSPC', 'EIO', 'EROFS'] as const;

let scenario: Scenario | null = null;
afterAll(() => {
  if (scenario !== null) destroyWorld(scenario.template);
});

describe('a call of the file system that fails', () => {
  it('is a refusal that changed nothing, or does not matter; if it goes on failing, a later recovery makes it good', async () => {
    scenario = await prepareScenario(CHANGES.mixed ?? {}, 'apply');
    const wrong: Record<string, unknown> = {};
    const codes = new Set<string>();
    for (let at = 0, done = false; !done; at += STRIDE) {
      for (const lasting of [false, true]) {
        const fault = FAULTS[(at / STRIDE) % FAULTS.length] ?? 'EIO';
        const world = copyWorld(scenario.template);
        let count = 0;
        let failing = true;
        const engine = await openEngine(world, (parts) =>
          observed(parts, (name) => {
            if (!name.startsWith('fs.')) return;
            count += 1;
            if (failing && (count === at + 1 || (lasting && count > at + 1)))
              throw Object.assign(new Error(`${fault}: made up, ${name}`), { code: fault, syscall: name });
          }),
        );
        try {
          const outcome = await engine.manager.apply(applyRequest(world, engine, scenario.revision), never());
          done = count <= at;
          codes.add(outcome.ok ? 'applied' : outcome.error.code);
          failing = false;
          const unresolved = !outcome.ok && outcome.error.code === 'needs_recovery';
          const summary = await engine.manager.recover(settleInto(engine.settled));
          const problems = judge(world, engine, summary, { ...scenario.expectation, edits: {} });
          if (summary.closed.length > 0 && !unresolved)
            problems.push('recovery found an open transaction nobody spoke of');
          const status = engine.deps.journal.get('TX-1' as TransactionId)?.status ?? 'none';
          if (!unresolved && outcome.ok !== (status === 'applied'))
            problems.push(`answered ${outcome.ok}, recorded ${status}`);
          if (problems.length > 0) wrong[`${fault} at ${at}${lasting ? ' and after' : ''}`] = problems;
        } finally {
          engine.close();
          destroyWorld(world);
        }
      }
    }
    expect(wrong).toEqual({});
    expect([...codes].sort()).toEqual(['applied', 'io_failed', 'needs_recovery']);
  }, 600_000);
});
