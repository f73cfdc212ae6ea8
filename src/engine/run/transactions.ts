import type { EngineError } from '../domain/errors.ts';
import type { TransactionId } from '../domain/ids.ts';
import type { ProposalRecord, RevisionRecord, RunRecord } from '../domain/records.ts';
import type { Result } from '../domain/result.ts';

/** Applications and rollbacks, one at a time per project. */
export interface Transactions {
  /** Applies an approved proposal's revision; the proposal goes through `applying` to `accepted`, or back to `approved`. */
  apply(
    proposal: ProposalRecord,
    revision: RevisionRecord,
    run: RunRecord,
    signal: AbortSignal,
  ): Promise<Result<TransactionId, EngineError>>;
  rollback(transactionId: string, reason: string, signal: AbortSignal): Promise<Result<TransactionId, EngineError>>;
  /** Closes every transaction that an earlier process left open. */
  recover(signal: AbortSignal): Promise<void>;
}
