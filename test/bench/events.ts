import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import type { Clock } from '../../src/engine/ports/clock.ts';
import type { Store } from '../../src/engine/ports/store.ts';
import { openStore } from '../../src/engine/store/open-store.ts';

export interface EventRates {
  /** Single-event transactions per second through the store. */
  readonly storePerSecond: number;
  /** Bare prepared inserts of such a row, one autocommit each, same pragmas, no index, no trigger, no digest. */
  readonly rawPerSecond: number;
  /** Bare inserts inside an explicit BEGIN IMMEDIATE … COMMIT, which a transaction of several statements needs. */
  readonly rawTransactionPerSecond: number;
  /** Medians over the rounds of store ÷ raw, each round measuring all three right after one another. */
  readonly ratioToRaw: number;
  readonly ratioToRawTransaction: number;
}

export interface EventBench {
  readonly normal: EventRates;
  readonly full: EventRates;
  readonly log: {
    readonly events: number;
    /** Milliseconds. */
    readonly openMs: number;
    readonly firstSnapshotMs: number;
    readonly newestOfRunMs: number;
    readonly oneEntityMs: number;
  };
}

/** Speed of the event log, next to SQLite without us in the same run (stated as ratios: the machine may be busy). */
export async function benchEvents(options: { readonly logEvents?: number } = {}): Promise<EventBench> {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'rt-'));
  try {
    return {
      normal: await rates(path.join(directory, 'normal'), 'normal', 40, 500),
      full: await rates(path.join(directory, 'full'), 'full', 20, 100),
      log: await bigLog(path.join(directory, 'log.db'), options.logEvents ?? 100_000),
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function rates(file: string, durability: 'full' | 'normal', rounds: number, size: number): Promise<EventRates> {
  const store = open(`${file}-store.db`);
  const raw = rawInserts(`${file}-raw.db`, durability);
  const rawTransaction = rawInserts(`${file}-raw-transaction.db`, durability);
  const seconds = { store: [] as number[], raw: [] as number[], rawTransaction: [] as number[] };
  for (let round = -2; round < rounds; round += 1) {
    const measured = {
      store: await timed(() => appendOneByOne(store, durability, size)),
      raw: await timed(() => raw.autocommit(size)),
      rawTransaction: await timed(() => rawTransaction.transaction(size)),
    };
    // Two rounds warm up the compiler and the caches.
    if (round < 0) continue;
    seconds.store.push(measured.store);
    seconds.raw.push(measured.raw);
    seconds.rawTransaction.push(measured.rawTransaction);
  }
  store.close();
  raw.close();
  rawTransaction.close();
  const perSecond = (values: number[]) => Math.round(size / median(values));
  const ratio = (values: number[]) => round2(median(values.map((value, index) => value / (seconds.store[index] ?? 1))));
  return {
    storePerSecond: perSecond(seconds.store),
    rawPerSecond: perSecond(seconds.raw),
    rawTransactionPerSecond: perSecond(seconds.rawTransaction),
    ratioToRaw: ratio(seconds.raw),
    ratioToRawTransaction: ratio(seconds.rawTransaction),
  };
}

async function bigLog(file: string, events: number): Promise<EventBench['log']> {
  const writer = open(file);
  for (let written = 0; written < events; written += 1_000) {
    await writer.write('normal', (scope) => {
      for (let index = written; index < Math.min(events, written + 1_000); index += 1) {
        scope.append({
          type: index % 1_000 === 0 ? 'proposal.submitted' : 'session.output',
          principal: 'agent:builder',
          entity: index % 1_000 === 0 ? 'proposal' : 'session',
          entityId: index % 1_000 === 0 ? `P-${index % 7}` : `S-${Math.floor(index / 5_000)}`,
          runId: `R-${Math.floor(index / 20_000)}` as never,
          data: { index, text: 'a line of output' },
        });
      }
    });
  }
  writer.close();
  const startedMs = performance.now();
  const store = open(file);
  const openMs = performance.now() - startedMs;
  const milliseconds = async (work: () => void) => round2(1_000 * (await timed(work)));
  const log = {
    events,
    openMs: round2(openMs),
    firstSnapshotMs: await milliseconds(() =>
      store.read((all) => [
        all.runs.live(),
        all.claims.active(),
        all.events.lastId(),
        all.events.list({ newest: true, limit: 200 }),
      ]),
    ),
    newestOfRunMs: await milliseconds(() =>
      store.read(({ events: list }) => list.list({ runId: 'R-1' as never, newest: true, limit: 200 })),
    ),
    oneEntityMs: await milliseconds(() =>
      store.read(({ events: list }) => list.list({ entity: 'proposal', entityId: 'P-3', limit: 200 })),
    ),
  };
  store.close();
  return log;
}

async function appendOneByOne(store: Store, durability: 'full' | 'normal', count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const outcome = await store.write(durability, (scope) =>
      scope.append({
        type: 'session.output',
        principal: 'agent:builder',
        entity: 'session',
        entityId: 'S-12',
        runId: 'R-1' as never,
        data: { index, text: 'a line of output' },
      }),
    );
    if (!outcome.ok) throw new Error(outcome.error.message);
  }
}

function rawInserts(file: string, durability: 'full' | 'normal') {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma(`synchronous = ${durability}`);
  database.exec(`CREATE TABLE events (id INTEGER PRIMARY KEY, at TEXT NOT NULL, type TEXT NOT NULL,
    principal TEXT NOT NULL, entity TEXT NOT NULL, entity_id TEXT NOT NULL, run_id TEXT, data TEXT NOT NULL,
    digest TEXT NOT NULL) STRICT`);
  const statement = database.prepare(`INSERT INTO events (at, type, principal, entity, entity_id, run_id, data, digest)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')];
  const at = '2026-03-01T09:30:00.000Z';
  const data = '{"index":123,"text":"a line of output"}';
  const digest = 'a'.repeat(64);
  const insert = () => statement.run(at, 'session.output', 'agent:builder', 'session', 'S-12', 'R-1', data, digest);
  return {
    autocommit(count: number): void {
      for (let index = 0; index < count; index += 1) insert();
    },
    transaction(count: number): void {
      for (let index = 0; index < count; index += 1) {
        begin.run();
        insert();
        commit.run();
      }
    },
    close: () => void database.close(),
  };
}

function open(file: string): Store {
  const opened = openStore({ path: file, clock });
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

const clock: Clock = {
  now: () => new Date().toISOString(),
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Seconds. */
async function timed(work: () => void | Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (performance.now() - startedMs) / 1_000;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function round2(value: number): number {
  return Math.round(value * 100) / 100;
}
