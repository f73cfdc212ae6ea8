export type GateId =
  | 'base'
  | 'claims'
  | 'scope'
  | 'secrets'
  | 'security'
  | 'tests'
  | 'roles'
  | 'votes'
  | 'veto'
  | 'rollback_plan'
  | 'human';

/** One condition for applying a revision. */
export interface Gate {
  readonly id: GateId;
  readonly status: 'passed' | 'pending' | 'failed' | 'overridden';
  readonly detail: string;
  /** What to do about it; empty when it passed. */
  readonly remedy: string;
}
