import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { z } from 'zod';
import { err, ok } from '../domain/result.ts';
import type { Clock } from '../ports/clock.ts';
import type { OwnerInfo, OwnerLock, OwnerLocks } from '../ports/store.ts';
import { isBusy } from './connection.ts';

export interface OwnerLockOptions {
  /** `lock.db`. Its directory was accepted by the store, so file locks hold there. */
  readonly lockFile: string;
  readonly clock: Clock;
}

/**
 * Trusts the kernel's file lock, taken by `BEGIN EXCLUSIVE` and held open: it works across PID namespaces and is gone
 * with the process, however that ends. Does not trust the file `owner.json` beside it: that is for display only.
 * Nothing else in the process may open and close the lock file, since closing any descriptor of it drops its locks.
 * Failures of the file system (permissions, full disk) throw.
 */
export function openOwnerLocks(options: OwnerLockOptions): OwnerLocks {
  const infoFile = path.join(path.dirname(options.lockFile), 'owner.json');
  let held: OwnerLock | null = null;
  return {
    tryAcquire(command) {
      const database = held === null ? lock(options.lockFile, 'EXCLUSIVE') : null;
      if (database === null) return err(engineOwned(readInfo(infoFile)));
      writeInfo(infoFile, { pid: process.pid, startedAt: options.clock.now(), command });
      const owned: OwnerLock = {
        release() {
          if (held !== owned) return;
          held = null;
          rmSync(infoFile, { force: true });
          database.close();
        },
      };
      held = owned;
      return ok(owned);
    },
    owner() {
      if (held !== null) return readInfo(infoFile);
      const probe = lock(options.lockFile, 'DEFERRED');
      probe?.close();
      return probe === null ? readInfo(infoFile) : null;
    },
  };
}

/** Long enough to outlive another's probe, short enough for the screen. */
const BUSY_TIMEOUT_MS = 20;

/** The connection whose open transaction is the lock, or null when another one holds it. */
function lock(file: string, mode: 'EXCLUSIVE' | 'DEFERRED'): Database.Database | null {
  const database = new Database(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.exec(`BEGIN ${mode}`);
    // A deferred transaction takes its shared lock, which an exclusive one excludes, only when it reads.
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return database;
  } catch (cause) {
    database.close();
    if (isBusy(cause)) return null;
    throw new Error(`the lock file ${file} can't be used`, { cause });
  }
}

function engineOwned(owner: OwnerInfo | null) {
  const who = owner === null ? 'another process' : `process ${owner.pid} (${owner.command}, since ${owner.startedAt})`;
  return {
    code: 'engine_owned' as const,
    owner,
    message: `the engine of this project belongs to ${who}`,
    remedy: 'use that one, or end it first',
  };
}

function writeInfo(file: string, info: OwnerInfo): void {
  const temporary = `${file}.${info.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(info)}\n`, { mode: 0o600 });
  renameSync(temporary, file);
}

function readInfo(file: string): OwnerInfo | null {
  try {
    return INFO.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

const INFO = z.object({ pid: z.number().int(), startedAt: z.string(), command: z.string() });
