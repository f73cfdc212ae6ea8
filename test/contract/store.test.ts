import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProposalId, RunId, SessionId, TaskId, TransactionId } from '../../src/engine/domain/ids.ts';
import type { Store } from '../../src/engine/ports/store.ts';
import { openConnection, openStore } from '../../src/engine/store/open-store.ts';
import { openOwnerLocks } from '../../src/engine/store/owner-lock.ts';
import { SqliteStore } from '../../src/engine/store/sqlite-store.ts';
import { verifyEvents } from '../../src/engine/store/verify-events.ts';
import { type StoreProcess, spawnStoreProcess } from '../support/spawn-store-process.ts';
import {
  aClaim,
  anAgent,
  anApproval,
  aProposal,
  aRequest,
  aRevision,
  aRun,
  aSession,
  aTask,
  aTestRun,
  aTransaction,
  insertOneOfEach,
  testClock,
} from '../support/store-records.ts';

const R1 = 'R-1' as RunId;
const P1 = 'P-1' as ProposalId;
const TX1 = 'TX-1' as TransactionId;

let directory: string;
let file: string;
let stores: Store[];
let processes: StoreProcess[];

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'rt-'));
  file = path.join(directory, 'roundtable.db');
  stores = [];
  processes = [];
});
afterEach(async () => {
  for (const { child } of processes) child.kill('SIGKILL');
  for (const store of stores) store.close();
  rmSync(directory, { recursive: true });
});

function open(options: { readOnly?: boolean } = {}): Store {
  const opened = openStore({ path: file, clock: testClock, ...options });
  if (!opened.ok) throw new Error(opened.error.message);
  stores.push(opened.value);
  return opened.value;
}

function spawnProcess(mode: string, ...rest: string[]): StoreProcess {
  const spawned = spawnStoreProcess(mode, directory, ...rest);
  processes.push(spawned);
  return spawned;
}

/** A second connection that can do to the file what no repository does. */
function tamper<T>(work: (database: Database.Database) => T): T {
  const database = new Database(file);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

function tick(store: Store, entityId = '1', type = 'tick', runId: RunId | null = null) {
  return store.write('normal', (scope) =>
    scope.append({ type, principal: 'system', entity: 'test', entityId, runId, data: { z: 1, a: [null, 'ü'] } }),
  );
}

async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`waited too long until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('rows', () => {
  it('come back as they went in', async () => {
    const store = open();
    expect(await store.write('normal', insertOneOfEach)).toEqual({ ok: true, value: undefined });
    const seen = store.read((all) => [
      all.runs.get(R1),
      all.agents.all()[0],
      all.tasks.ofRun(R1)[0],
      all.sessions.ofTask('T-1' as TaskId)[0],
      all.claims.ofSession('S-1' as SessionId)[0],
      all.proposals.get(P1),
      all.proposals.revision(P1, 1),
      all.testRuns.ofRevision(P1, 1)[0],
      all.approvals.ofRevision(P1, 1)[0],
      all.transactions.ofProposal(P1)[0],
      all.requests.pending()[0],
    ]);
    expect(seen).toEqual([
      aRun(R1),
      anAgent(),
      aTask(),
      aSession(),
      aClaim('C-1', 'src/a.ts', 1),
      aProposal(),
      aRevision(),
      aTestRun(),
      anApproval(),
      aTransaction(),
      aRequest(),
    ]);
  });

  it('are listed in the order of insertion, not of their text', async () => {
    const store = open();
    await store.write('normal', (scope) => {
      for (const id of ['R-9', 'R-10', 'R-2']) scope.runs.insert(aRun(id as RunId));
      scope.runs.update({ ...aRun('R-10' as RunId), status: 'completed' });
    });
    expect(store.read(({ runs }) => runs.all().map(({ id }) => id))).toEqual(['R-9', 'R-10', 'R-2']);
    expect(store.read(({ runs }) => runs.live().map(({ id }) => id))).toEqual(['R-2', 'R-9']);
  });

  it('say which row is meant when it is missing', async () => {
    const store = open();
    const update = store.write('normal', ({ runs }) => runs.update(aRun('R-77' as RunId)));
    await expect(update).rejects.toThrow('runs has no row R-77 to update');
    expect(store.read(({ runs }) => runs.get('R-77' as RunId))).toBeNull();
  });

  it('are refused when they refer to nothing', async () => {
    const store = open();
    await expect(store.write('normal', ({ tasks }) => tasks.insert(aTask()))).rejects.toThrow(/FOREIGN KEY/);
  });

  it.each([
    ["UPDATE tasks SET depends_on = '[1]'", 'tasks', 'T-1', 'depends_on'],
    ["UPDATE tasks SET depends_on = 'oops'", 'tasks', 'T-1', 'depends_on'],
    [
      `DROP TRIGGER revisions_immutable; UPDATE revisions SET policy = '{"testsRequired": "no"}'`,
      'revisions',
      'P-1/1',
      'policy',
    ],
  ])('that are corrupt are named (%s)', async (sql, table, id, column) => {
    const store = open();
    await store.write('normal', insertOneOfEach);
    tamper((database) => database.exec(sql));
    const look = () => store.read((all) => [all.tasks.all(), all.proposals.revisions(P1)]);
    expect(look).toThrow(`row ${id} of table ${table} is corrupt: column ${column} can't be read`);
  });

  it('close phases of a transaction and tell the open transactions', async () => {
    const store = open();
    const phase = { transactionId: TX1, sequence: 1, phase: 'verify', startedAt: 'a', endedAt: null, outcome: null };
    await store.write('full', (scope) => {
      insertOneOfEach(scope);
      scope.transactions.insertPhase({ ...phase, detail: null });
      scope.transactions.updatePhase({ ...phase, endedAt: 'b', outcome: 'failed', detail: 'no' });
    });
    expect(store.read(({ transactions }) => transactions.phases(TX1))).toEqual([
      { ...phase, endedAt: 'b', outcome: 'failed', detail: 'no' },
    ]);
    expect(store.read(({ transactions }) => transactions.open().length)).toBe(1);
    await store.write('full', ({ transactions }) => transactions.update({ ...aTransaction(), status: 'aborted' }));
    expect(store.read(({ transactions }) => transactions.open())).toEqual([]);
  });
});

describe('the database itself', () => {
  it.each([
    "UPDATE revisions SET additions = 7 WHERE proposal_id = 'P-1'",
    "DELETE FROM revisions WHERE proposal_id = 'P-1'",
    'INSERT OR REPLACE INTO revisions SELECT * FROM revisions',
    "UPDATE approvals SET principal = 'agent:x'",
    'DELETE FROM approvals',
    "UPDATE events SET type = 'other'",
    'DELETE FROM events',
    'INSERT OR REPLACE INTO events SELECT * FROM events',
    'INSERT INTO events SELECT id + 2, at, type, principal, entity, entity_id, run_id, data, digest FROM events',
    "UPDATE runs SET status = 'stopped'",
    "UPDATE runs SET id = 'R-2'",
    'DELETE FROM claims',
    "INSERT OR REPLACE INTO runs SELECT seq, id, goal, 'failed', status_reason, scope, target_ref, approve_mode, max_iterations, iterations, deadline_at, created_at, updated_at FROM runs",
    "UPDATE counters SET value = 0 WHERE name = 'run'",
    "UPDATE tasks SET created_by = 'somebody'",
    "UPDATE test_runs SET status = 'maybe'",
  ])('refuses: %s', async (sql) => {
    const store = open();
    await store.write('normal', (scope) => {
      insertOneOfEach(scope);
      scope.nextId('run');
    });
    await tick(store);
    const before = tamper(dump);
    expect(() => tamper((database) => database.pragma('foreign_keys = OFF') && database.exec(sql))).toThrow(
      /immutable|never|gaps|illegal_status_change|CHECK|only grow/,
    );
    expect(tamper(dump)).toEqual(before);
  });

  function dump(database: Database.Database): unknown {
    const tables = ['revisions', 'approvals', 'events', 'runs', 'claims', 'counters', 'tasks', 'test_runs'];
    return tables.map((table) => database.prepare(`SELECT * FROM ${table}`).all());
  }

  it('lets a row keep its status', async () => {
    const store = open();
    await store.write('normal', insertOneOfEach);
    const same = store.write('normal', ({ runs }) => runs.update({ ...aRun(R1), goal: 'another' }));
    expect((await same).ok).toBe(true);
  });

  it('gives every project an id of its own, once', () => {
    const first = open().read(({ facts }) => facts.get('project_id'));
    expect(first).toMatch(/^[0-9a-f]{12}$/);
    expect(open().read(({ facts }) => facts.get('project_id'))).toBe(first);
  });

  it('is refused when a newer version wrote it, and left as it was', () => {
    open().close();
    tamper((database) => database.pragma('user_version = 99'));
    const refused = openStore({ path: file, clock: testClock });
    expect(refused).toMatchObject({ ok: false, error: { code: 'store_newer' } });
    expect(tamper((database) => database.pragma('user_version', { simple: true }))).toBe(99);
  });

  it.each([
    ['another program', (database: Database.Database) => database.exec('CREATE TABLE theirs (x)')],
    ['an application with its own mark', (database: Database.Database) => database.pragma('application_id = 7')],
  ])('is refused when it belongs to %s, and left as it was', (_, make) => {
    tamper(make);
    expect(openStore({ path: file, clock: testClock })).toMatchObject({ ok: false, error: { code: 'store_failed' } });
    expect(tamper((database) => database.pragma('journal_mode', { simple: true }))).toBe('delete');
  });

  it('is refused when it is no database at all', () => {
    writeFileSync(file, 'x'.repeat(5000));
    const refused = openStore({ path: file, clock: testClock });
    expect(refused).toMatchObject({ ok: false, error: { code: 'store_failed', remedy: /restore/ } });
  });

  it('is refused on a file system whose locks do not hold', () => {
    const refused = openStore({ path: file, clock: testClock, refusedFilesystem: () => 'nfs' });
    expect(refused).toMatchObject({ ok: false, error: { code: 'store_unsupported_filesystem' } });
  });

  it('is read, but neither made nor written, by a read-only store', async () => {
    expect(openStore({ path: file, clock: testClock, readOnly: true })).toMatchObject({
      ok: false,
      error: { code: 'store_failed', remedy: /init/ },
    });
    await tick(open());
    const reader = open({ readOnly: true });
    expect(reader.read(({ events }) => events.lastId())).toBe(1);
    expect(await tick(reader)).toMatchObject({ ok: false, error: { code: 'store_failed' } });
  });

  it('judges by the table of this version, whatever an earlier one left', async () => {
    open().close();
    tamper((database) => database.exec("DELETE FROM legal_moves; INSERT INTO legal_moves VALUES ('run', 'a', 'b')"));
    const store = open();
    expect((await store.write('normal', insertOneOfEach)).ok).toBe(true);
  });
});

describe('claims by path', () => {
  const PATHS = [
    'src/',
    'src/a.ts',
    'src/lib/',
    'src/lib/deep/x.ts',
    'src.ts',
    'src-old/',
    'srcx/a',
    'a_b/c',
    'axb/c',
    '100%/y',
    'ü/z',
  ];

  it.each([
    ['directory', 'src/', ['src/', 'src/a.ts', 'src/lib/', 'src/lib/deep/x.ts']],
    ['directory', 'src/lib/', ['src/', 'src/lib/', 'src/lib/deep/x.ts']],
    ['directory', 'src/lib/deep/', ['src/', 'src/lib/', 'src/lib/deep/x.ts']],
    ['directory', 'src/library/', ['src/']],
    ['file', 'src/a.ts', ['src/', 'src/a.ts']],
    ['file', 'src/lib/deep/y.ts', ['src/', 'src/lib/']],
    ['file', 'src.ts', ['src.ts']],
    ['file', 'src', []],
    ['directory', 'a_b/', ['a_b/c']],
    ['file', 'a_b/c', ['a_b/c']],
    ['directory', '100%/', ['100%/y']],
    ['directory', '%/', []],
    ['directory', 'ü/', ['ü/z']],
  ] as const)('a %s claim on %s meets %j', async (kind, asked, expected) => {
    const store = open();
    await store.write('normal', (scope) => {
      insertOneOfEach(scope);
      scope.claims.update({ ...aClaim('C-1', 'src/a.ts', 1), status: 'released' });
      PATHS.forEach((held, index) => {
        scope.claims.insert(aClaim(`C-${index + 2}`, held, index + 2));
      });
    });
    const met = store.read(({ claims }) => claims.activeOverlapping(kind, asked).map(({ path: held }) => held));
    expect(met).toEqual(expected);
  });

  it('are found through the index, never by a scan', async () => {
    const opened = openConnection(file, false);
    if (!opened.ok) throw new Error(opened.error.message);
    const connection = opened.value;
    const asked: string[] = [];
    const prepare = connection.prepare.bind(connection);
    connection.prepare = (sql) => {
      asked.push(sql);
      return prepare(sql);
    };
    const store = new SqliteStore(connection, testClock, false);
    stores.push(store);
    store.read(({ claims }) => [claims.activeOverlapping('directory', 'a/'), claims.activeOverlapping('file', 'a/b')]);
    const plans = asked
      .filter((sql) => sql.includes('FROM claims'))
      .map((sql) =>
        connection.database
          .prepare(`EXPLAIN QUERY PLAN ${sql}`)
          .all(...Array.from(sql.matchAll(/\?/g), () => '[]'))
          .map((row) => (row as { detail: string }).detail)
          .join('\n'),
      );
    expect(plans.length).toBe(2);
    for (const plan of plans) {
      expect(plan).toContain('claims_active_by_path');
      expect(plan).not.toMatch(/SCAN claims/);
    }
  });

  it('get fencing tokens that only grow', async () => {
    const store = open();
    const tokens: number[] = [];
    for (let index = 0; index < 3; index += 1) {
      const outcome = await store.write('normal', ({ claims }) => claims.nextFencingToken());
      if (outcome.ok) tokens.push(outcome.value);
    }
    expect(tokens).toEqual([1, 2, 3]);
    expect(() => store.read(({ claims }) => claims.nextFencingToken())).toThrow(/outside of a writing transaction/);
  });
});

describe('events', () => {
  it('form a chain of digests', async () => {
    const store = open();
    const first = await tick(store);
    const second = await tick(store);
    expect(first).toMatchObject({ ok: true, value: { id: 1, data: { z: 1, a: [null, 'ü'] } } });
    const listed = store.read(({ events }) => events.list({ limit: 9 }));
    expect(listed).toEqual([first.ok && first.value, second.ok && second.value]);
    expect(store.read(({ events }) => events.lastDigest())).toBe(listed[1]?.digest);
    expect(verifyEvents(file)).toMatchObject({ ok: true, value: { verified: 2, firstBadId: null } });
  });

  it.each([
    ['a changed word', "UPDATE events SET entity_id = 'x' WHERE id = 3", 3],
    ['changed data', `UPDATE events SET data = '{"a":[null,"ü"],"z":2}' WHERE id = 2`, 2],
    ['a blank in the data', "UPDATE events SET data = data || ' ' WHERE id = 5", 5],
    ['a changed digest', "UPDATE events SET digest = replace(digest, substr(digest, 1, 1), 'x') WHERE id = 4", 4],
    ['a dropped row', 'DELETE FROM events WHERE id = 2', 3],
    ['a dropped first row', 'DELETE FROM events WHERE id = 1', 2],
  ])('show %s', async (_, sql, firstBadId) => {
    const store = open();
    for (let index = 0; index < 6; index += 1) await tick(store);
    tamper((database) => database.exec(`DROP TRIGGER events_immutable; DROP TRIGGER events_stay; ${sql}`));
    expect(verifyEvents(file)).toMatchObject({ ok: true, value: { firstBadId } });
  });

  it('survive text that is no Unicode', async () => {
    const store = open();
    await tick(store, 'half \ud800 pair');
    await store.write('normal', (scope) =>
      scope.append({ type: 't', principal: 'system', entity: 'e', entityId: '1', runId: null, data: { x: '\udfff' } }),
    );
    expect(store.read(({ events }) => events.list({ limit: 2 }).map(({ data }) => data.x))).toEqual([
      undefined,
      '\udfff',
    ]);
    expect(verifyEvents(file)).toMatchObject({ ok: true, value: { verified: 2, firstBadId: null } });
  });

  it('refuse data that JSON would silently change', async () => {
    const store = open();
    for (const value of [Number.NaN, 1n, new Date(), () => 0]) {
      const write = store.write('normal', (scope) =>
        scope.append({ type: 't', principal: 'system', entity: 'e', entityId: '1', runId: null, data: { value } }),
      );
      await expect(write).rejects.toThrow(/has no JSON form/);
    }
    expect(store.read(({ events }) => events.lastId())).toBe(0);
  });

  it('are found by every filter, across the blocks of the log', async () => {
    const store = open();
    await store.write('normal', (scope) => {
      for (let id = 1; id <= 1_100; id += 1) {
        const rare = id % 250 === 0;
        scope.append({
          type: rare ? 'rare' : 'tick',
          principal: 'system',
          entity: id % 2 === 0 ? 'even' : 'odd',
          entityId: `${id % 100}`,
          runId: rare ? R1 : null,
        });
      }
    });
    const ids = (filter: object) =>
      store.read(({ events }) => events.list({ limit: 200, ...filter }).map(({ id }) => id));
    expect(ids({ type: 'rare' })).toEqual([250, 500, 750, 1000]);
    expect(ids({ runId: R1, newest: true, limit: 2 })).toEqual([750, 1000]);
    expect(ids({ runId: R1, afterId: 250, upToId: 750 })).toEqual([500, 750]);
    expect(ids({ entity: 'even', entityId: '50' })).toEqual(Array.from({ length: 11 }, (_, n) => 50 + 100 * n));
    expect(ids({ entity: 'odd', entityId: '50' })).toEqual([]);
    expect(ids({ entity: 'odd', limit: 3, newest: true })).toEqual([1095, 1097, 1099]);
    expect(ids({ entityId: '0', type: 'tick', limit: 3 })).toEqual([100, 200, 300]);
    expect(ids({ limit: 2 })).toEqual([1, 2]);
    expect(ids({ limit: 2, newest: true })).toEqual([1099, 1100]);
    expect(ids({ afterId: 255, limit: 3 })).toEqual([256, 257, 258]);
    expect(() => ids({ limit: 0 })).toThrow(RangeError);
  });
});

describe('a write', () => {
  it('rolls back rows, events and ids together when it throws', async () => {
    const store = open();
    const fault = new Error('half way');
    const write = store.write('full', (scope) => {
      scope.runs.insert(aRun(scope.nextId('run') as RunId));
      scope.append({ type: 'run.created', principal: 'operator', entity: 'run', entityId: 'R-1', runId: null });
      throw fault;
    });
    await expect(write).rejects.toBe(fault);
    expect(store.read(({ runs, events }) => [runs.all(), events.lastId()])).toEqual([[], 0]);
    const next = await store.write('full', (scope) => [scope.nextId('run'), scope.nextId('transaction')]);
    expect(next).toEqual({ ok: true, value: ['R-1', 'TX-1'] });
    await tick(store);
    expect(verifyEvents(file)).toMatchObject({ ok: true, value: { verified: 1, firstBadId: null } });
  });

  it('inside another transaction is a bug and throws at once', async () => {
    const store = open();
    await expect(store.write('normal', () => void tick(store))).rejects.toThrow(/inside another transaction/);
    expect(() => store.read(() => tick(store))).toThrow(/inside another transaction/);
    expect((await tick(store)).ok).toBe(true);
  });

  it('takes no asynchronous function', async () => {
    const store = open();
    const write = store.write('normal', async (scope) => scope.facts.set('k', 'v'));
    await expect(write).rejects.toThrow(/must be synchronous/);
    expect(store.read(({ facts }) => facts.get('k'))).toBeNull();
  });

  it('leaves nothing behind that works outside of it', async () => {
    const store = open();
    const leaked = await store.write('normal', (scope) => scope);
    if (!leaked.ok) throw new Error(leaked.error.message);
    expect(() => leaked.value.facts.set('k', 'v')).toThrow(/outside of a writing transaction/);
    expect(() => leaked.value.facts.get('k')).toThrow(/outside of its transaction/);
    expect(() => store.read(({ runs }) => runs.insert(aRun(R1)))).toThrow(/outside of a writing transaction/);
  });

  it('commits with the durability that was asked for', async () => {
    const opened = openConnection(file, false);
    if (!opened.ok) throw new Error(opened.error.message);
    const store = new SqliteStore(opened.value, testClock, false);
    stores.push(store);
    const seen: unknown[] = [];
    for (const durability of ['full', 'normal', 'full', 'full', 'normal'] as const) {
      const during = await store.write(durability, () => opened.value.database.pragma('synchronous', { simple: true }));
      seen.push(during.ok && during.value);
    }
    expect(seen).toEqual([2, 1, 2, 2, 1]);
    expect(opened.value.database.pragma('journal_mode', { simple: true })).toBe('wal');
  });

  it('waits for another process without stopping the event loop, in order', async () => {
    const store = open();
    const holder = spawnProcess('hold');
    expect(await holder.line()).toBe('holding');
    const order: number[] = [];
    const first = tick(store).then(() => order.push(1));
    const second = tick(store).then(() => order.push(2));
    let turns = 0;
    const beats = setInterval(() => {
      turns += 1;
    }, 1);
    await until(() => turns >= 20, 'the event loop has turned');
    expect(order).toEqual([]);
    await holder.end();
    await Promise.all([first, second]);
    clearInterval(beats);
    expect(order).toEqual([1, 2]);
  });

  it('is store_busy after its time, while timers go on', async () => {
    const store = open();
    const holder = spawnProcess('hold');
    await holder.line();
    let beats = 0;
    const beating = setInterval(() => {
      beats += 1;
    }, 10);
    const startedMs = performance.now();
    const impatient = store.write('full', ({ facts }) => facts.set('k', 'v'), { timeoutMs: 600 });
    const short = await store.write('full', ({ facts }) => facts.set('k', 'v'), { timeoutMs: 30 });
    expect(short).toMatchObject({ ok: false, error: { code: 'store_busy' } });
    expect(performance.now() - startedMs).toBeLessThan(550);
    expect(await impatient).toMatchObject({ ok: false, error: { code: 'store_busy' } });
    clearInterval(beating);
    // 600 ms hold at least ten beats when no single stop of the loop is longer than 60 ms.
    expect(beats).toBeGreaterThanOrEqual(10);
    // A reader never waits for a writer.
    expect(store.read(({ facts }) => facts.get('k'))).toBeNull();
    await holder.end();
    expect((await tick(store)).ok).toBe(true);
  });

  it('that still waits when the store is closed fails instead of hanging', async () => {
    const store = open();
    const holder = spawnProcess('hold');
    await holder.line();
    const waiting = tick(store);
    store.close();
    expect(await waiting).toMatchObject({ ok: false, error: { code: 'store_failed' } });
    expect(await tick(store)).toMatchObject({ ok: false, error: { code: 'store_failed' } });
    await holder.end();
  });
});

describe('a read', () => {
  it('sees one snapshot while another connection writes', async () => {
    const [reader, writer] = [open(), open()];
    await tick(writer);
    const seen = reader.read(({ events }) => {
      const before = events.lastId();
      tamper((database) => database.exec(COPY_LAST_EVENT));
      return [before, events.lastId(), events.list({ limit: 9 }).length];
    });
    expect(seen).toEqual([1, 1, 1]);
    expect(reader.read(({ events }) => events.lastId())).toBe(2);
  });

  it('inside a write sees what was written so far', async () => {
    const store = open();
    const inside = await store.write('normal', (scope) => {
      scope.runs.insert(aRun(R1));
      return store.read(({ runs }) => runs.all().length);
    });
    expect(inside).toEqual({ ok: true, value: 1 });
  });

  const COPY_LAST_EVENT = `INSERT INTO events
    SELECT max(id) + 1, at, type, principal, entity, entity_id, run_id, data, digest FROM events`;
});

describe('two processes', () => {
  it('never get the same id, and chain their events into one log', async () => {
    open();
    const racers = [spawnProcess('ids', '300'), spawnProcess('ids', '300')];
    const taken = (await Promise.all(racers.map((racer) => racer.line()))) as string[][];
    const all = taken.flat();
    expect(new Set(all).size).toBe(600);
    expect(all.map((id) => Number(id.slice(2))).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 600 }, (_, n) => n + 1),
    );
    expect(verifyEvents(file)).toMatchObject({ ok: true, value: { verified: 600, firstBadId: null } });
  });

  it('may create the database at the same moment', async () => {
    const racers = [spawnProcess('ids', '5'), spawnProcess('ids', '5'), spawnProcess('ids', '5')];
    await Promise.all(racers.map((racer) => racer.line()));
    expect(verifyEvents(file)).toMatchObject({ ok: true, value: { verified: 15, firstBadId: null } });
  });

  it('keep the log whole when one is killed while it writes, again and again', async () => {
    const store = open();
    const locks = openOwnerLocks({ lockFile: path.join(directory, 'lock.db'), clock: testClock });
    for (let round = 1; round <= 6; round += 1) {
      const writer = spawnProcess('forever');
      let said = Number(await writer.line());
      while (said < round * 7) said = Number(await writer.line());
      const before = store.read(({ events }) => events.lastId());
      await writer.kill();
      const freed = locks.tryAcquire('after the kill');
      expect(freed.ok).toBe(true);
      if (freed.ok) freed.value.release();
      const [runs, events] = store.read((all) => [all.runs.all().length, all.events.lastId()]);
      expect(runs).toBe(events);
      expect(events).toBeGreaterThanOrEqual(before);
      expect(verifyEvents(file)).toMatchObject({ ok: true, value: { verified: events, firstBadId: null } });
      expect((await store.write('full', (scope) => scope.nextId('run'))).ok).toBe(true);
      await store.write('full', (scope) => {
        scope.runs.insert(aRun(scope.nextId('run') as RunId));
        scope.append({ type: 'run.created', principal: 'system', entity: 'run', entityId: '-', runId: null });
      });
    }
    expect(tamper((database) => database.pragma('integrity_check', { simple: true }))).toBe('ok');
  });
});

describe('a subscriber', () => {
  it('gets every id of its own and of another process once and in order', async () => {
    const store = open();
    await tick(store);
    const got: number[] = [];
    const subscription = store.subscribe(({ fromId, toId }) => {
      for (let id = fromId; id <= toId; id += 1) got.push(id);
    });
    const other = spawnProcess('events', '2000');
    let own = 0;
    const ownWrites = (async () => {
      while (own < 200) {
        own += 1;
        await tick(store, `${own}`);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    await Promise.all([other.line(), ownWrites]);
    await until(() => got.length >= 2_200, 'all events were announced');
    expect(got).toEqual(Array.from({ length: 2_200 }, (_, n) => n + 2));
    expect(store.read(({ events }) => events.lastId())).toBe(2_201);
    subscription.close();
  });

  it('is told right after an own commit, in one range for commits of one turn', async () => {
    const store = open();
    const ranges: object[] = [];
    store.subscribe((range) => ranges.push(range));
    const writes = [tick(store), tick(store), tick(store)];
    expect(ranges).toEqual([]);
    await Promise.all(writes);
    expect(ranges).toEqual([{ fromId: 1, toId: 3 }]);
  });

  it('that throws or is slow disturbs no other', async () => {
    const store = open();
    const calls: string[] = [];
    let release = () => {};
    store.subscribe(() => {
      throw new Error('mine');
    });
    store.subscribe(async ({ fromId, toId }) => {
      calls.push(`slow ${fromId}-${toId}`);
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    });
    store.subscribe(({ fromId, toId }) => calls.push(`quick ${fromId}-${toId}`));
    for (let index = 0; index < 3; index += 1) {
      await tick(store);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(calls).toEqual(['slow 1-1', 'quick 1-1', 'quick 2-2', 'quick 3-3']);
    release();
    await until(() => calls.length === 5, 'the slow one goes on');
    expect(calls[4]).toBe('slow 2-3');
    release();
  });

  it('hears nothing after closing, twice closing does nothing, and after the store is closed it ends at once', async () => {
    const store = open();
    let calls = 0;
    const subscription = store.subscribe(() => {
      calls += 1;
    });
    subscription.close();
    subscription.close();
    await tick(store);
    store.close();
    store.close();
    store
      .subscribe(() => {
        calls += 1;
      })
      .close();
    expect(calls).toBe(0);
  });

  it('hears nothing of a write that was rolled back or wrote no event', async () => {
    const store = open();
    const ranges: object[] = [];
    store.subscribe((range) => ranges.push(range));
    await store.write('normal', ({ facts }) => facts.set('k', 'v'));
    const failing = store.write('normal', (scope) => {
      scope.append({ type: 't', principal: 'system', entity: 'e', entityId: '1', runId: null });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await tick(store);
    expect(ranges).toEqual([{ fromId: 1, toId: 1 }]);
  });
});

describe('the owner lock', () => {
  const locksOf = () => openOwnerLocks({ lockFile: path.join(directory, 'lock.db'), clock: testClock });

  it('goes to one process and names it to the other', async () => {
    const owner = spawnProcess('own');
    expect(await owner.line()).toBe('owning');
    const locks = locksOf();
    const refused = locks.tryAcquire('start');
    expect(refused).toMatchObject({
      ok: false,
      error: { code: 'engine_owned', owner: { pid: owner.child.pid, command: 'own' } },
    });
    expect(locks.owner()).toMatchObject({ pid: owner.child.pid, command: 'own' });
    await owner.end();
    expect(locks.owner()).toBeNull();
  });

  it('is free at once after SIGKILL, whatever the file beside it says', async () => {
    for (let round = 0; round < 3; round += 1) {
      const owner = spawnProcess('own');
      expect(await owner.line()).toBe('owning');
      await owner.kill();
      expect(locksOf().owner()).toBeNull();
      const acquired = locksOf().tryAcquire('start');
      expect(acquired.ok).toBe(true);
      if (acquired.ok) acquired.value.release();
    }
  });

  it('is exclusive within one process, free after release, and released once', () => {
    const [first, second] = [locksOf(), locksOf()];
    const held = first.tryAcquire('one');
    if (!held.ok) throw new Error(held.error.message);
    expect(first.owner()).toMatchObject({ pid: process.pid, command: 'one' });
    expect(second.owner()).toMatchObject({ pid: process.pid, command: 'one' });
    expect(first.tryAcquire('again').ok).toBe(false);
    expect(second.tryAcquire('two')).toMatchObject({ ok: false, error: { owner: { command: 'one' } } });
    held.value.release();
    const next = second.tryAcquire('two');
    expect(next.ok).toBe(true);
    held.value.release();
    expect(first.owner()).toMatchObject({ command: 'two' });
    if (next.ok) next.value.release();
  });

  it('still refuses, without a name, when the file beside it is torn', async () => {
    const owner = spawnProcess('own');
    await owner.line();
    writeFileSync(path.join(directory, 'owner.json'), '{"pid": 1');
    expect(locksOf().tryAcquire('x')).toMatchObject({ ok: false, error: { code: 'engine_owned', owner: null } });
    await owner.end();
  });

  it('goes to exactly one of several that try at the same moment', async () => {
    const racers = [spawnProcess('own'), spawnProcess('own'), spawnProcess('own')];
    const said = await Promise.all(racers.map((racer) => racer.line()));
    expect(said.filter((line) => line === 'owning').length).toBe(1);
    await Promise.all(racers.map((racer) => racer.end()));
  });
});
