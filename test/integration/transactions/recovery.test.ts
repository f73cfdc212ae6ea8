import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { TransactionId } from '../../../src/engine/domain/ids.ts';
import { Crash, crashingAt, observed } from '../../support/transactions/crash.ts';
import { git } from '../../support/transactions/git.ts';
import { leftovers, snapshot } from '../../support/transactions/snapshot.ts';
import {
  applyRequest,
  createWorld,
  destroyWorld,
  type EngineParts,
  never,
  openEngine,
  type Revision,
  revise,
  settleInto,
  type World,
} from '../../support/transactions/world.ts';

let world: World;
let revision: Revision;
afterEach(() => destroyWorld(world));

const CHANGE = { 'src/a.txt': 'changed\n', 'src/b.txt': null, 'src/new.txt': 'new\n' };

/** An engine that dies just before the named call, the n-th time it comes. */
async function dieBefore(name: string, occurrence = 0, more: { commit?: boolean } = {}): Promise<void> {
  world = createWorld();
  revision = revise(world, CHANGE);
  let seen = 0;
  let dead = false;
  const locks: Parameters<typeof observed>[2] = [];
  const engine = await openEngine(world, (parts) =>
    observed(
      parts,
      (call) => {
        if (call === name && seen++ === occurrence && !dead) {
          dead = true;
          for (const lock of locks ?? []) void lock.abort();
        }
        if (dead) throw new Crash(name);
      },
      locks,
    ),
  );
  await expect(engine.manager.apply(applyRequest(world, engine, revision, more), never())).rejects.toThrow(Crash);
  engine.close();
}

async function recoverNow(wrap?: (parts: EngineParts) => EngineParts) {
  const engine = await openEngine(world, wrap);
  const summary = await engine.manager.recover(settleInto(engine.settled));
  const record = engine.deps.journal.get('TX-1' as TransactionId);
  engine.close();
  return { summary, record, report: summary.closed[0] };
}

const inRepo = (name: string) => path.join(world.project, name);
const dropLock = () => rmSync(inRepo('.git/index.lock'));

describe('after a crash behind the commit point', () => {
  it('touches no file, although the user edited one, and finishes the index', async () => {
    await dieBefore('fs.rename', 2);
    expect(readFileSync(inRepo('.git/index.lock')).length).toBeGreaterThan(0);
    writeFileSync(inRepo('src/a.txt'), 'mine, on top\n');
    const { report, record } = await recoverNow();
    expect(report).toMatchObject({ outcome: 'applied', row: 'landed', left: [], needsOperator: false });
    expect(record?.newCommit).toBe(git(world.project, ['rev-parse', 'HEAD']));
    expect(readFileSync(inRepo('src/a.txt'), 'utf8')).toBe('mine, on top\n');
    expect(git(world.project, ['diff', '--cached', '--name-only'])).toBe('elsewhere/staged.txt');
    expect(leftovers(world)).toEqual([]);
  });

  it('counts as applied when the user removed the lock and committed on top', async () => {
    await dieBefore('fs.rename', 2);
    dropLock();
    git(world.project, ['add', '-u', 'elsewhere/dirty.txt']);
    git(world.project, ['commit', '-q', '-m', 'on top', '--only', 'elsewhere/dirty.txt']);
    const { report } = await recoverNow();
    expect(report).toMatchObject({ outcome: 'applied', row: 'landed' });
    // The entries that were still the base's were merged into the user's index; his staged work is as it was.
    expect(git(world.project, ['diff', '--cached', '--name-only'])).toBe('elsewhere/staged.txt');
    expect(git(world.project, ['log', '-1', '--format=%s'])).toBe('on top');
  });

  it('keeps an entry that the user staged himself', async () => {
    await dieBefore('fs.rename', 2);
    dropLock();
    writeFileSync(inRepo('src/a.txt'), 'staged by me\n');
    git(world.project, ['add', 'src/a.txt']);
    await recoverNow();
    expect(git(world.project, ['show', ':src/a.txt'])).toBe('staged by me');
    expect(git(world.project, ['diff', '--cached', '--name-only'])).toBe('elsewhere/staged.txt\nsrc/a.txt');
  });

  it('waits for another git that holds the index, and can be tried again', async () => {
    await dieBefore('fs.rename', 2);
    writeFileSync(inRepo('.git/index.lock'), 'somebody else');
    const blocked = await recoverNow();
    expect(blocked.summary.blocked).toHaveLength(1);
    expect(blocked.record?.status).toBe('applying');
    expect(readFileSync(inRepo('.git/index.lock'), 'utf8')).toBe('somebody else');
    dropLock();
    expect((await recoverNow()).report).toMatchObject({ outcome: 'applied' });
    expect(leftovers(world)).toEqual([]);
  });

  it('leaves the index of another branch alone', async () => {
    await dieBefore('fs.rename', 2);
    dropLock();
    git(world.project, ['stash', '-q']);
    git(world.project, ['checkout', '-q', '-b', 'other', revision.baseCommit]);
    const { report } = await recoverNow();
    expect(report).toMatchObject({ outcome: 'applied' });
    expect(git(world.project, ['diff', '--cached', '--name-only'])).toBe('');
  });

  it('refuses new work until it is recovered', async () => {
    await dieBefore('journal.close');
    const engine = await openEngine(world);
    const again = applyRequest(world, engine, revision, { transactionId: 'TX-2' as TransactionId });
    const outcome = await engine.manager.apply(again, never());
    engine.close();
    expect(outcome.ok ? null : outcome.error).toMatchObject({ code: 'needs_recovery', journaled: false });
  });
});

describe('after a crash before the commit point', () => {
  it('restores what the transaction changed, and leaves and lists what the user changed since', async () => {
    await dieBefore('git.commit');
    writeFileSync(inRepo('src/new.txt'), 'mine\n');
    const { report, record } = await recoverNow();
    expect(report).toMatchObject({ outcome: 'aborted', row: 'not_landed', left: ['src/new.txt'], needsOperator: true });
    expect(record).toMatchObject({ status: 'aborted', needsOperator: true, newCommit: null });
    expect(readFileSync(inRepo('src/new.txt'), 'utf8')).toBe('mine\n');
    expect(readFileSync(inRepo('src/b.txt'), 'utf8')).toBe('bee\n');
    expect(leftovers(world)).toEqual([]);
  });

  it('keeps what HEAD has when the user committed the half-made change himself', async () => {
    await dieBefore('git.commit');
    dropLock();
    git(world.project, ['commit', '-q', '-m', 'mine', '--only', 'src/a.txt']);
    const { report } = await recoverNow();
    expect(report).toMatchObject({ outcome: 'aborted', row: 'ref_elsewhere', needsOperator: true, left: [] });
    expect(readFileSync(inRepo('src/a.txt'), 'utf8')).toBe('changed\n');
    expect(readFileSync(inRepo('src/b.txt'), 'utf8')).toBe('bee\n');
    expect(git(world.project, ['status', '--porcelain', '--', 'src'])).toBe('');
  });

  it('restores when the branch is gone', async () => {
    await dieBefore('git.commit');
    dropLock();
    git(world.project, ['checkout', '-q', '--detach']);
    git(world.project, ['branch', '-q', '-D', 'main']);
    const { report } = await recoverNow();
    expect(report).toMatchObject({ outcome: 'aborted', row: 'ref_elsewhere' });
    expect(git(world.project, ['status', '--porcelain', '--', 'src'])).toBe('');
  });

  it('removes the lock files that a power cut left, and only those of ours', async () => {
    await dieBefore('git.commit');
    const dead = git(world.project, ['rev-parse', 'HEAD']);
    const { newCommit } = JSON.parse((await openRecord())?.journal ?? '{}') as { newCommit: string };
    writeFileSync(inRepo('.git/refs/heads/main.lock'), `${newCommit}\n`);
    writeFileSync(inRepo('.git/HEAD.lock'), '');
    const { report } = await recoverNow();
    expect(report).toMatchObject({ outcome: 'aborted', row: 'not_landed' });
    expect(git(world.project, ['rev-parse', 'HEAD'])).toBe(dead);
    expect(leftovers(world)).toEqual([]);
  });

  it('is blocked by a lock of somebody else and leaves everything for later', async () => {
    await dieBefore('git.commit');
    writeFileSync(inRepo('.git/refs/heads/main.lock'), '');
    const before = snapshot(world);
    const { summary, record } = await recoverNow();
    expect(summary.blocked).toHaveLength(1);
    expect(record?.status).toBe('applying');
    expect(snapshot(world)).toEqual(before);
    rmSync(inRepo('.git/refs/heads/main.lock'));
    expect((await recoverNow()).report).toMatchObject({ outcome: 'aborted', left: [] });
  });

  it('can itself be interrupted at any point', async () => {
    for (let at = 0, alive = false; !alive; at += 3) {
      await dieBefore('git.commit');
      const crash = crashingAt(at);
      const first = await openEngine(world, crash.wrap);
      await first.manager
        .recover(settleInto(first.settled))
        .catch((cause: unknown) => expect(cause).toBeInstanceOf(Crash));
      first.close();
      alive = crash.reached() === null;
      await recoverNow();
      expect(git(world.project, ['status', '--porcelain', '--', 'src']), `interrupted before call ${at}`).toBe('');
      expect(leftovers(world)).toEqual([]);
      if (!alive) destroyWorld(world);
    }
  }, 300_000);
});

describe('a crash in the moment of the commit', () => {
  it('is decided by what git did, once git has ended', async () => {
    world = createWorld();
    revision = revise(world, CHANGE);
    const engine = await openEngine(world, (parts) => ({
      ...parts,
      target: new Proxy(parts.target, {
        get(target, key) {
          if (key !== 'lockRef') return Reflect.get(target, key);
          const lockRef: typeof target.lockRef = async (place, spec, signal) => {
            const locked = await target.lockRef(place, spec, signal);
            if (!locked.ok || spec.new === null) return locked;
            const commit = async () => {
              // The word is said, and nobody waits for the answer.
              void locked.value.commit();
              throw new Crash('commit in flight');
            };
            return { ok: true, value: { ...locked.value, commit, abort: () => Promise.reject(new Crash('dead')) } };
          };
          return lockRef;
        },
      }),
    }));
    await expect(engine.manager.apply(applyRequest(world, engine, revision), never())).rejects.toThrow(Crash);
    engine.close();
    const { report } = await recoverNow();
    const moved = git(world.project, ['rev-parse', 'HEAD']) !== revision.baseCommit;
    expect(report?.outcome).toBe(moved ? 'applied' : 'aborted');
    expect(git(world.project, ['status', '--porcelain', '--', 'src'])).toBe('');
    expect(leftovers(world)).toEqual([]);
  });
});

describe('without a commit', () => {
  it('is applied once the index is the new one, also after git refreshed it', async () => {
    await dieBefore('journal.close', 0, { commit: false });
    git(world.project, ['status'], undefined, { GIT_OPTIONAL_LOCKS: '1' });
    const { report } = await recoverNow();
    expect(report).toMatchObject({ outcome: 'applied', row: 'index_landed' });
    expect(git(world.project, ['diff', '--cached', '--name-only', '--', 'src'])).toBe(
      'src/a.txt\nsrc/b.txt\nsrc/new.txt',
    );
  });

  it('leaves and lists everything when the index is neither', async () => {
    await dieBefore('fs.rename', 2, { commit: false });
    dropLock();
    git(world.project, ['add', 'src/a.txt']);
    const before = snapshot(world).tree;
    const { report } = await recoverNow();
    expect(report).toMatchObject({ outcome: 'aborted', row: 'index_unknown', needsOperator: true });
    expect([...(report?.left ?? [])].sort()).toEqual(['src/a.txt', 'src/b.txt', 'src/new.txt']);
    expect(snapshot(world).tree).toEqual(before);
  });
});

describe('an edit through a handle that was open before the file was replaced', () => {
  it('is kept when it comes after the last comparison', async () => {
    world = createWorld();
    revision = revise(world, CHANGE);
    const engine = await openEngine(world, (parts) => ({
      ...parts,
      journal: {
        ...parts.journal,
        close(id, closing, settle) {
          appendFileSync(path.join(world.state, 'tmp/roundtable-TX-1/backups/0'), 'late words\n');
          return parts.journal.close(id, closing, settle);
        },
      },
    }));
    const outcome = await engine.manager.apply(applyRequest(world, engine, revision), never());
    engine.close();
    if (!outcome.ok) throw new Error(outcome.error.message);
    expect(outcome.value.kept).toHaveLength(1);
    expect(readFileSync(outcome.value.kept[0] ?? '', 'utf8')).toContain('late words');
    expect(leftovers(world)).toEqual([]);
  });
});

describe('the order in which things become durable', () => {
  it('is: objects, staged files, journal, backups, files, directories, reference, index, end', async () => {
    world = createWorld();
    revision = revise(world, CHANGE);
    const trace: string[] = [];
    const note = (name: string, args: readonly unknown[]) =>
      void trace.push(
        `${name} ${args.map((arg) => (typeof arg === 'string' ? path.relative(world.project, arg) : '')).join(' ')}`.trim(),
      );
    const engine = await openEngine(world, (parts) => observed(parts, note));
    const outcome = await engine.manager.apply(applyRequest(world, engine, revision), never());
    engine.close();
    expect(outcome.ok).toBe(true);
    const at = (pattern: RegExp) => {
      const index = trace.findIndex((line) => pattern.test(line));
      expect(index, `${pattern} in ${trace.join('\n')}`).toBeGreaterThan(-1);
      return index;
    };
    const last = (pattern: RegExp) => trace.findLastIndex((line) => pattern.test(line));
    const order = [
      at(/^git\.createCommit/),
      at(/^fs\.syncDirectory \.git\/objects$/),
      at(/^journal\.prepare/),
      at(/^fs\.link \.git\/roundtable-TX-1\.index \.git\/index\.lock/),
      at(/^git\.lockRef/),
      at(/^journal\.verified/),
      at(/^fs\.syncFile .*staged\/src\/a\.txt/),
      at(/^journal\.applying/),
      at(/^fs\.link src\/a\.txt .*backups/),
      at(/^fs\.syncDirectory .*backups$/),
      at(/^fs\.rename .*staged\/src\/a\.txt src\/a\.txt/),
      last(/^fs\.syncDirectory src$/),
      at(/^git\.commit/),
      at(/^fs\.syncDirectory \.git\/refs\/heads$/),
      at(/^fs\.rename \.git\/index\.lock \.git\/index$/),
      last(/^fs\.syncDirectory \.git$/),
      at(/^journal\.close/),
      last(/^fs\.removeTree/),
    ];
    expect(order).toEqual([...order].sort((a, b) => a - b));
    const synced = trace.slice(0, at(/^journal\.applying/)).filter((line) => line.startsWith('fs.syncFile'));
    expect(synced).toHaveLength(2);
  });
});

async function openRecord() {
  const engine = await openEngine(world);
  const record = engine.deps.journal.get('TX-1' as TransactionId);
  engine.close();
  return record;
}
