import type { TransactionId } from '../../domain/ids.ts';
import type { TransactionJournal } from '../../ports/transaction-journal.ts';

/** Runs one step as a phase row: begun before, ended after, failed when it throws or is refused. */
export async function inPhase<T>(
  journal: TransactionJournal,
  id: TransactionId,
  phase: string,
  work: () => Promise<T>,
  failed: (value: T) => string | null = () => null,
): Promise<T> {
  const started = await journal.phaseStarted(id, phase, null);
  if (!started.ok) throw new JournalFailure(started.error.message);
  let value: T;
  try {
    value = await work();
  } catch (cause) {
    // The failure itself matters more than its row.
    await journal.phaseEnded(id, started.value, 'failed', String(cause).slice(0, 400)).catch(() => undefined);
    throw cause;
  }
  const problem = failed(value);
  const ended = await journal.phaseEnded(id, started.value, problem === null ? 'ok' : 'failed', problem);
  if (!ended.ok) throw new JournalFailure(ended.error.message);
  return value;
}

/** The journal can't be written: expected (a full disk, a busy database), but no step may go on without it. */
export class JournalFailure extends Error {
  override readonly name = 'JournalFailure';
}
