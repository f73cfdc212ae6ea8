import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIFECYCLES, type LifecycleEntity, transition } from '../../src/engine/domain/lifecycle.ts';
import type { Repositories, Store, WriteScope } from '../../src/engine/ports/store.ts';
import { openStore } from '../../src/engine/store/open-store.ts';
import {
  aClaim,
  anAgent,
  aProposal,
  aRun,
  aSession,
  aTask,
  aTransaction,
  insertOneOfEach,
  testClock,
} from '../support/store-records.ts';

type Table = Record<string, readonly string[]>;

const tableOf = (entity: LifecycleEntity): Table => LIFECYCLES[entity];
const statusesOf = (entity: LifecycleEntity) => Object.keys(tableOf(entity));
const ENTITIES = Object.keys(LIFECYCLES) as LifecycleEntity[];

describe('transition()', () => {
  it.each(ENTITIES)('never takes %s off its table', (entity) => {
    const status = fc.constantFrom(...statusesOf(entity));
    fc.assert(
      fc.property(status, fc.array(status, { maxLength: 30 }), (start, wishes) => {
        let current = start;
        for (const wish of wishes) {
          const moved = transition(entity, 'X-1', current as never, wish as never);
          expect(moved.ok).toBe(tableOf(entity)[current]?.includes(wish));
          if (moved.ok) current = moved.value;
          else
            expect(moved.error).toMatchObject({
              code: 'illegal_transition',
              entity,
              id: 'X-1',
              from: current,
              event: wish,
            });
        }
      }),
    );
  });
});

/** How the row of each stored entity is written and read; a turn has no table yet. */
const STORED: Record<
  Exclude<LifecycleEntity, 'turn'>,
  {
    put(scope: WriteScope, id: string, status: string, insert: boolean): void;
    status(repositories: Repositories, id: string): string | undefined;
  }
> = {
  run: stored(
    (all) => all.runs,
    (id) => aRun(id as never),
  ),
  task: stored(
    (all) => all.tasks,
    () => aTask(),
  ),
  agent: stored(
    (all) => all.agents,
    () => anAgent(),
  ),
  session: stored(
    (all) => all.sessions,
    () => aSession(),
  ),
  claim: stored(
    (all) => all.claims,
    (id, n) => aClaim(id, 'src/x.ts', n),
  ),
  proposal: stored(
    (all) => all.proposals,
    () => aProposal(),
  ),
  transaction: stored(
    (all) => all.transactions,
    () => aTransaction(),
  ),
};

function stored<R extends { readonly id: string; readonly status: string }>(
  repository: (all: Repositories) => { insert(record: R): void; update(record: R): void; get(id: R['id']): R | null },
  make: (id: string, n: number) => R,
) {
  let n = 1_000;
  return {
    put(scope: WriteScope, id: string, status: string, insert: boolean) {
      const old = insert ? null : repository(scope).get(id);
      n += 1;
      const record = { ...(old ?? make(id, n)), id, status } as R;
      if (insert) repository(scope).insert(record);
      else repository(scope).update(record);
    },
    status: (repositories: Repositories, id: string) => repository(repositories).get(id)?.status,
  };
}

describe('the database', () => {
  let directory: string;
  let store: Store;
  let nextRow = 0;

  beforeAll(async () => {
    directory = mkdtempSync(path.join(os.tmpdir(), 'rt-'));
    const opened = openStore({ path: path.join(directory, 'roundtable.db'), clock: testClock });
    if (!opened.ok) throw new Error(opened.error.message);
    store = opened.value;
    await store.write('normal', insertOneOfEach);
  });
  afterAll(() => {
    store.close();
    rmSync(directory, { recursive: true });
  });

  it.each(Object.entries(STORED))(
    'lets no sequence of updates take %s off its table',
    async (entity, { put, status }) => {
      const table = tableOf(entity as LifecycleEntity);
      const anyStatus = fc.constantFrom(...Object.keys(table));
      await fc.assert(
        fc.asyncProperty(anyStatus, fc.array(anyStatus, { maxLength: 12 }), async (start, wishes) => {
          nextRow += 1;
          const id = `row-${nextRow}`;
          await store.write('normal', (scope) => put(scope, id, start, true));
          let current = start;
          for (const wish of wishes) {
            const legal = wish === current || table[current]?.includes(wish) === true;
            const move = store.write('normal', (scope) => put(scope, id, wish, false));
            if (legal) {
              expect(await move).toEqual({ ok: true, value: undefined });
              current = wish;
            } else {
              await expect(move).rejects.toMatchObject({
                code: 'illegal_status_change',
                entity,
                id,
                from: current,
                to: wish,
              });
            }
            expect(store.read((repositories) => status(repositories, id))).toBe(current);
          }
        }),
        { numRuns: 40 },
      );
    },
  );

  it.each(Object.entries(STORED))('takes no %s whose status is not in its table', async (entity, { put }) => {
    const insert = store.write('normal', (scope) => put(scope, 'odd', 'no-such-status', true));
    await expect(insert).rejects.toMatchObject({
      code: 'illegal_status_change',
      entity,
      from: null,
      to: 'no-such-status',
    });
  });
});
