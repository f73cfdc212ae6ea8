/**
 * A second process on the same store, for tests of what two processes do to each other. Arguments: mode, directory, and
 * the mode's own. Says one line of JSON at a time; ends when its input closes.
 */
import path from 'node:path';
import type { RunId } from '../../src/engine/domain/ids.ts';
import { openStore } from '../../src/engine/store/open-store.ts';
import { openOwnerLocks } from '../../src/engine/store/owner-lock.ts';
import { aRun, testClock } from './store-records.ts';

const [mode, directory = '', ...rest] = process.argv.slice(2);

function say(line: unknown): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function open() {
  const opened = openStore({ path: path.join(directory, 'roundtable.db'), clock: testClock });
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

const MODES: Record<string, () => Promise<void>> = {
  /** Takes `count` run ids, one transaction each, and says them. */
  async ids() {
    const store = open();
    const taken: string[] = [];
    for (let index = 0; index < Number(rest[0]); index += 1) {
      const outcome = await store.write('normal', (scope) => {
        const id = scope.nextId('run');
        scope.runs.insert(aRun(id as RunId));
        scope.append({ type: 'run.created', principal: 'system', entity: 'run', entityId: id, runId: null });
        return id;
      });
      if (!outcome.ok) throw new Error(outcome.error.message);
      taken.push(outcome.value);
      if (index % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    store.close();
    say(taken);
  },
  /** Appends `count` events. */
  async events() {
    const store = open();
    for (let index = 0; index < Number(rest[0]); index += 1) {
      const outcome = await store.write('normal', (scope) =>
        scope.append({ type: 'tick', principal: 'system', entity: 'test', entityId: `${index}`, runId: null }),
      );
      if (!outcome.ok) throw new Error(outcome.error.message);
      if (index % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    store.close();
    say('done');
  },
  /** Owns the engine and writes a run and its event per transaction until it is killed, saying how many are committed. */
  async forever() {
    const lock = openOwnerLocks({ lockFile: path.join(directory, 'lock.db'), clock: testClock }).tryAcquire('forever');
    if (!lock.ok) throw new Error(lock.error.message);
    const store = open();
    for (let committed = 1; ; committed += 1) {
      const outcome = await store.write(committed % 2 === 0 ? 'full' : 'normal', (scope) => {
        const id = scope.nextId('run');
        scope.runs.insert(aRun(id as RunId));
        scope.append({ type: 'run.created', principal: 'system', entity: 'run', entityId: id, runId: null });
      });
      if (!outcome.ok) throw new Error(outcome.error.message);
      say(committed);
      await new Promise((resolve) => setImmediate(resolve));
    }
  },
  /** Holds the write lock until it is killed or its input closes. */
  async hold() {
    const { default: Database } = await import('better-sqlite3');
    const database = new Database(path.join(directory, 'roundtable.db'));
    database.exec('BEGIN IMMEDIATE');
    say('holding');
    await new Promise((resolve) => process.stdin.once('end', resolve).resume());
    database.close();
  },
  /** Owns the engine until it is killed or its input closes. */
  async own() {
    const lock = openOwnerLocks({ lockFile: path.join(directory, 'lock.db'), clock: testClock }).tryAcquire('own');
    say(lock.ok ? 'owning' : lock.error);
    await new Promise((resolve) => process.stdin.once('end', resolve).resume());
    if (lock.ok) lock.value.release();
  },
};

await MODES[mode ?? '']?.();
