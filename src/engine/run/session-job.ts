import type { ProposalRecord, SessionRecord, TaskRecord } from '../domain/records.ts';
import type { EffectivePolicy } from '../ports/policy-source.ts';
import type { ReadyAdapter } from './resolve-adapter.ts';

export interface SessionJob {
  readonly session: SessionRecord;
  readonly task: TaskRecord;
  readonly ready: ReadyAdapter;
  readonly policy: EffectivePolicy;
  /** The proposal that was sent back and gets its next revision. */
  readonly continues: ProposalRecord | null;
  /** Fires when the session is to end; its reason says who wants that. */
  readonly stop: AbortSignal;
}

/** Reasons that `stop` is aborted with. */
export type StopReason = 'operator' | 'engine' | 'limit';
