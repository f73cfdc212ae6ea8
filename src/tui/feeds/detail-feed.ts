import type { Engine, ProposalView } from '../../engine/api.ts';
import type { DiffState, TransactionState } from '../state/screen-state.ts';
import { diffIndex } from '../views/diff-index.ts';

export interface DetailFeed {
  /** What the detail shows now; loads what isn't there yet. `stamp` changes when a transaction may have moved. */
  show(proposal: ProposalView | null, transactionId: string | null, stamp: number): void;
  close(): void;
}

/** A selection that moves on within this time isn't worth a query. */
const SETTLE_MS = 40;
/** Revisions are immutable, so the last few diffs can be kept. */
const KEPT_DIFFS = 8;
const CONTEXT_LINES = 3;

export function detailFeed(
  engine: Engine,
  onDiff: (diff: DiffState) => void,
  onTransaction: (transaction: TransactionState) => void,
): DetailFeed {
  const kept = new Map<string, DiffState>();
  let diffKey: string | null = null;
  let transactionKey: string | null = null;
  let diffTimer: NodeJS.Timeout | null = null;
  let closed = false;

  async function loadDiff(proposalId: string, revision: number, key: string): Promise<void> {
    const base = { proposalId, revision, files: [], index: diffIndex([]) };
    let diff: DiffState;
    try {
      const answer = await engine.query('diff', { proposalId, revision, contextLines: CONTEXT_LINES });
      diff = answer.ok
        ? { proposalId, revision, status: 'ready', files: answer.value, index: diffIndex(answer.value), error: null }
        : { ...base, status: 'failed', error: answer.error };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      diff = {
        ...base,
        status: 'failed',
        error: { code: 'git_failed', message, remedy: 'move away and back to try again' },
      };
    }
    if (closed || diffKey !== key) return;
    if (diff.status === 'ready') {
      kept.set(key, diff);
      const oldest = kept.keys().next().value;
      if (kept.size > KEPT_DIFFS && oldest !== undefined) kept.delete(oldest);
    }
    onDiff(diff);
  }

  async function loadTransaction(id: string, key: string): Promise<void> {
    try {
      const detail = await engine.query('transaction', { id });
      if (!closed && transactionKey === key) onTransaction({ id, detail });
    } catch {
      // The snapshot feed reports an engine that doesn't answer; a later event asks again.
    }
  }

  return {
    show(proposal, transactionId, stamp) {
      const wanted = proposal === null ? null : `${proposal.id}/${proposal.revision.number}`;
      if (wanted !== diffKey) {
        diffKey = wanted;
        if (diffTimer !== null) clearTimeout(diffTimer);
        if (wanted !== null && proposal !== null) {
          const ready = kept.get(wanted);
          const { id, revision } = proposal;
          if (ready !== undefined) onDiff(ready);
          else diffTimer = setTimeout(() => void loadDiff(id, revision.number, wanted), SETTLE_MS);
        }
      }
      const transaction = transactionId === null ? null : `${transactionId}@${stamp}`;
      if (transaction === transactionKey) return;
      transactionKey = transaction;
      if (transactionId !== null && transaction !== null) void loadTransaction(transactionId, transaction);
    },
    close() {
      closed = true;
      if (diffTimer !== null) clearTimeout(diffTimer);
    },
  };
}
