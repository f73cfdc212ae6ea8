import type { TransactionId } from '../domain/ids.ts';
import type { TransactionRecord } from '../domain/records.ts';
import type { Result } from '../domain/result.ts';
import type { StoreError, WriteScope } from './store.ts';

/** How a transaction ended; what the caller's `settle` is told inside the commit that records it. */
export interface TransactionOutcome {
  readonly record: TransactionRecord;
  readonly outcome: 'applied' | 'aborted';
  /** True when recovery closed it. */
  readonly recovered: boolean;
  /** Paths that were left as they are and need a look. */
  readonly left: readonly string[];
}

/** Runs inside the closing commit and must be synchronous; what it throws rolls the closing back. */
export type Settle = (scope: WriteScope, outcome: TransactionOutcome) => void;

export interface JournalClosing {
  readonly outcome: 'applied' | 'aborted';
  readonly reason: string;
  readonly needsOperator: boolean;
  readonly recovered: boolean;
  readonly left: readonly string[];
  readonly newCommit: TransactionRecord['newCommit'];
}

/** The journal of the transaction manager. `FULL`: on the disk when the promise resolves. */
export interface TransactionJournal {
  /** FULL. The row that says what is about to be done; `begin` runs in the same commit. */
  prepare(record: TransactionRecord, begin: (scope: WriteScope) => void): Promise<Result<void, StoreError>>;
  /** FULL. A prepared row whose journal changed before anything visible was done. */
  reprepare(record: TransactionRecord): Promise<Result<void, StoreError>>;
  /** Survives our crash. */
  verified(id: TransactionId): Promise<Result<unknown, StoreError>>;
  /** FULL. From here on the work tree may change. */
  applying(id: TransactionId): Promise<Result<unknown, StoreError>>;
  /** FULL. The end, with everything the caller settles, in one commit. */
  close(id: TransactionId, closing: JournalClosing, settle: Settle): Promise<Result<TransactionRecord, StoreError>>;
  /** One step begins; survives our crash. Answers its sequence number. */
  phaseStarted(id: TransactionId, phase: string, detail: string | null): Promise<Result<number, StoreError>>;
  phaseEnded(
    id: TransactionId,
    sequence: number,
    outcome: 'ok' | 'failed',
    detail: string | null,
  ): Promise<Result<void, StoreError>>;
  /** Details of all phase rows of that name, oldest first. */
  phaseDetails(id: TransactionId, phase: string): readonly string[];
  get(id: TransactionId): TransactionRecord | null;
  /** Transactions that are not closed, oldest first. */
  open(): readonly TransactionRecord[];
}
