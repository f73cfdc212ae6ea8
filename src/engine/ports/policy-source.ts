import type { EngineError } from '../domain/errors.ts';
import type { ObjectId } from '../domain/ids.ts';
import type { PolicySnapshot } from '../domain/records.ts';
import type { Result } from '../domain/result.ts';

export interface EffectivePolicy {
  readonly policy: PolicySnapshot;
  /** SHA-256 (hex) of the policy's canonical form. */
  readonly digest: string;
}

/** The policy that a revision is judged by: that of its base, or, while the base has none, the work tree's file. */
export interface PolicySource {
  forBase(commit: ObjectId, signal: AbortSignal): Promise<Result<EffectivePolicy, EngineError>>;
}
