import type { Clock } from '../../ports/clock.ts';
import type { Fs } from '../../ports/fs.ts';
import type { TargetRepository } from '../../ports/target-repository.ts';
import type { TransactionJournal } from '../../ports/transaction-journal.ts';

/** What every part of the transaction manager works with. */
export interface TransactionDeps {
  readonly target: TargetRepository;
  readonly fs: Fs;
  readonly journal: TransactionJournal;
  readonly clock: Clock;
  /** Existing directory of ours (0700), if possible on the work tree's file system. */
  readonly stateTempDir: string;
  /** Where raced edits of the user are kept that nobody else has; made when needed. */
  readonly keptDir: string;
  readonly busy: BusyPolicy;
}

/** How long somebody else's lock is waited for. */
export interface BusyPolicy {
  readonly attempts: number;
  readonly delayMs: number;
}

/** Past the point where a cancellation could still be honoured. */
export function neverAborted(): AbortSignal {
  return new AbortController().signal;
}
