import type { Fs } from '../../../src/engine/ports/fs.ts';
import type { RefLock, TargetRepository } from '../../../src/engine/ports/target-repository.ts';
import type { TransactionJournal } from '../../../src/engine/ports/transaction-journal.ts';
import type { EngineParts } from './world.ts';

/** The process is gone: nothing after this has any effect. Not an expected failure of anything. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/** Told of every call that changes something, before it happens: may throw, stop the process, or note it. */
export type OnMutation = (name: string, args: readonly unknown[]) => void | Promise<void>;

/** The same parts with a hook before every changing call of file system, git and journal. */
export function observed(parts: EngineParts, before: OnMutation, locks: RefLock[] = []): EngineParts {
  const target = hooked(parts.target, 'git', TARGET_MUTATIONS, before);
  return {
    fs: hooked(parts.fs, 'fs', FS_MUTATIONS, before),
    journal: hooked(parts.journal, 'journal', JOURNAL_MUTATIONS, before),
    target: {
      ...target,
      async lockRef(place, spec, signal) {
        const locked = await target.lockRef(place, spec, signal);
        if (!locked.ok) return locked;
        locks.push(locked.value);
        return { ok: true, value: hooked(locked.value, 'git', ['commit', 'abort'], before) };
      },
    },
  };
}

/** Stops the engine for good before its `at`-th change, counted from 0. `reached` says before which one. */
export function crashingAt(at: number): {
  readonly wrap: (parts: EngineParts) => EngineParts;
  readonly reached: () => string | null;
  readonly count: () => number;
} {
  let count = 0;
  let dead: string | null = null;
  const locks: RefLock[] = [];
  const before: OnMutation = (name) => {
    if (dead === null && count === at) {
      dead = name;
      // A dead engine's git sees the end of its input.
      for (const lock of locks) void lock.abort();
    }
    count += 1;
    if (dead !== null) throw new Crash(`dead before ${dead}`);
  };
  return { wrap: (parts) => observed(parts, before, locks), reached: () => dead, count: () => count };
}

const FS_MUTATIONS: readonly (keyof Fs & string)[] = [
  'mkdir',
  'rmdir',
  'link',
  'rename',
  'unlink',
  'copyFile',
  'writeFile',
  'removeTree',
  'syncFile',
  'syncDirectory',
];
const TARGET_MUTATIONS: readonly (keyof TargetRepository & string)[] = [
  'importObjects',
  'createCommit',
  'buildIndex',
  'stage',
  'filters',
  'modified',
  'writeTree',
  'mergeBlobs',
  'lockRef',
  'refreshIndex',
];
const JOURNAL_MUTATIONS: readonly (keyof TransactionJournal & string)[] = [
  'prepare',
  'reprepare',
  'verified',
  'applying',
  'close',
  'phaseStarted',
  'phaseEnded',
];

function hooked<T extends object>(subject: T, prefix: string, names: readonly string[], before: OnMutation): T {
  return new Proxy(subject, {
    get(inner, key) {
      const value: unknown = Reflect.get(inner, key);
      if (typeof value !== 'function') return value;
      if (typeof key !== 'string' || !names.includes(key)) return value.bind(inner);
      return async (...args: unknown[]) => {
        await before(`${prefix}.${key}`, args);
        return value.apply(inner, args);
      };
    },
  });
}
