import { setTimeout as delay } from 'node:timers/promises';
import type { ObjectId, TransactionId } from '../../domain/ids.ts';
import type { Fs } from '../../ports/fs.ts';
import type { RefLock, TargetPlace } from '../../ports/target-repository.ts';
import { neverAborted, type TransactionDeps } from './deps.ts';

/** Phase whose rows say which process took the locks of the reference, and which lock files it made. */
export const REF_LOCK_PHASE = 'lock-ref';

export interface RefLockNote {
  readonly process: string;
  /** Lock files by identity and time, once the locks were held. */
  readonly locks: readonly string[];
}

/** Names the lock files so that they are known again after a power cut, when no process is left to remove them. */
export async function describeRefLocks(fs: Fs, files: readonly (string | null)[]): Promise<string[]> {
  const notes: string[] = [];
  for (const file of files) {
    const entry = file === null ? null : await fs.lstat(file);
    if (entry !== null) notes.push(`${entry.identity}@${entry.modified}`);
  }
  return notes;
}

/**
 * Makes sure that nothing of a dead engine can move the reference any more: waits for the process that it left behind,
 * removes lock files of ours that no process will remove. False when that process does not end.
 */
export async function endEarlierRefLock(
  deps: TransactionDeps,
  id: TransactionId,
  place: TargetPlace,
  newCommit: ObjectId | null,
): Promise<boolean> {
  const { fs, journal } = deps;
  const notes = journal.phaseDetails(id, REF_LOCK_PHASE).map((text) => JSON.parse(text) as RefLockNote);
  const deadline = deps.clock.monotonicMs() + ORPHAN_TIMEOUT_MS;
  for (const { process } of notes) {
    while (await fs.processRuns(process)) {
      if (deps.clock.monotonicMs() > deadline) return false;
      await delay(20);
    }
  }
  const known = new Set(notes.flatMap((note) => note.locks));
  const { ref, head } = deps.target.refLockFiles(place);
  const text = newCommit === null ? null : ((await fs.readFile(ref)) ?? null);
  // Git writes the new value into the lock while it prepares; this commit is in nobody else's hands.
  const ownRef = text !== null && Buffer.from(text).toString('latin1').trim() === newCommit;
  for (const file of [ref, head]) {
    if (file === null) continue;
    const entry = await fs.lstat(file);
    if (entry === null) continue;
    const own = known.has(`${entry.identity}@${entry.modified}`) || (ownRef && (file === ref || entry.size === 0));
    if (own) await fs.unlink(file);
  }
  return true;
}

/** Holds the reference where it is, so that what recovery decides by stays true while it acts. Null: somebody has it. */
export async function holdRef(
  deps: TransactionDeps,
  place: TargetPlace,
): Promise<{ readonly value: ObjectId | null; readonly lock: RefLock } | null> {
  for (let attempt = 1; attempt <= deps.busy.attempts; attempt += 1) {
    const value = await deps.target.resolve(place, place.ref, neverAborted());
    const spec = { old: value, new: null, reflogMessage: 'roundtable: recovery', announced: async () => undefined };
    const locked = await deps.target.lockRef(place, spec, neverAborted());
    if (locked.ok) return { value, lock: locked.value };
    await delay(deps.busy.delayMs);
  }
  return null;
}

const ORPHAN_TIMEOUT_MS = 10_000;
