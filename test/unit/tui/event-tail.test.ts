import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventTail } from '../../../src/tui/feeds/event-tail.ts';
import { FakeEngine } from '../../support/fake-engine.ts';

async function until(done: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!done()) {
    if (performance.now() > deadline) throw new Error('it did not come');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

describe('eventTail', () => {
  it('loses and repeats nothing, with lost, repeated and early notifications', async () => {
    const step = fc.record({ count: fc.integer({ min: 0, max: 5 }), notify: fc.boolean(), wait: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 20 }), fc.array(step, { maxLength: 15 }), async (before, steps) => {
        const engine = new FakeEngine();
        for (let count = 0; count < before; count++) engine.change('task.noted', 'task', 'T-1');
        const seen: number[] = [];
        const tail = eventTail(engine, {
          runId: null,
          backlog: 5,
          onEvents: (events) => seen.push(...events.map((event) => event.id)),
          onProblem: (problem) => {
            throw new Error(problem);
          },
        });
        // The backlog is what was there at the first reading; from then on nothing may be missing.
        await until(() => engine.queries.get('events') === 1);
        for (const { count, notify, wait } of steps) {
          for (let made = 0; made < count; made++) engine.change('task.noted', 'task', 'T-1', {}, notify);
          if (wait) await new Promise((resolve) => setImmediate(resolve));
        }
        engine.change('task.noted', 'task', 'T-1');
        const last = engine.events.length;
        await until(() => seen.at(-1) === last);
        tail.close();
        const first = seen[0] ?? last;
        expect(seen).toEqual(Array.from({ length: last - first + 1 }, (_, index) => first + index));
        expect(first).toBe(before === 0 ? 1 : Math.max(1, before - 4));
      }),
      { numRuns: 60 },
    );
  });

  it('finds an event whose notification never came', async () => {
    const engine = new FakeEngine();
    const seen: number[] = [];
    const tail = eventTail(engine, {
      runId: null,
      backlog: 5,
      onEvents: (events) => seen.push(...events.map((event) => event.id)),
      onProblem: () => undefined,
    });
    await until(() => engine.queries.get('events') === 1);
    engine.change('task.noted', 'task', 'T-1', {}, false);
    await until(() => seen.length === 1);
    tail.close();
    expect(seen).toEqual([1]);
  });

  it('goes on after an engine that did not answer', async () => {
    const engine = new FakeEngine();
    const seen: number[] = [];
    const problems: string[] = [];
    const tail = eventTail(engine, {
      runId: null,
      backlog: 5,
      onEvents: (events) => seen.push(...events.map((event) => event.id)),
      onProblem: (problem) => problems.push(problem),
    });
    engine.broken = new Error('busy');
    engine.change('task.noted', 'task', 'T-1');
    await until(() => problems.length > 0);
    engine.broken = null;
    engine.change('task.noted', 'task', 'T-1');
    await until(() => seen.length === 2);
    tail.close();
    expect(seen).toEqual([1, 2]);
  });
});
