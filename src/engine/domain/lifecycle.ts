import { err, ok, type Result } from './result.ts';

/**
 * The eight lifecycles as data: status → statuses it may move to. Anything not listed is refused. Docs, the database's
 * own guard and the property tests are made from this table.
 */
export const LIFECYCLES = {
  run: {
    active: ['paused', 'draining', 'completed', 'blocked', 'failed'],
    paused: ['active', 'draining', 'failed'],
    blocked: ['draining', 'active', 'failed'],
    draining: ['stopped', 'failed'],
    stopped: ['active'],
    completed: [],
    failed: [],
  },
  task: {
    proposed: ['open', 'cancelled'],
    open: ['assigned', 'blocked', 'failed', 'cancelled'],
    assigned: ['in_progress', 'blocked', 'open', 'failed', 'cancelled'],
    in_progress: ['in_review', 'blocked', 'open', 'failed', 'cancelled'],
    in_review: ['done', 'in_progress', 'failed', 'cancelled'],
    blocked: ['open', 'failed', 'cancelled'],
    done: ['open'],
    failed: [],
    cancelled: [],
  },
  agent: {
    idle: ['running', 'draining'],
    running: ['idle', 'draining'],
    draining: ['disabled', 'idle', 'running'],
    disabled: ['idle'],
  },
  claim: {
    active: ['released', 'expired', 'revoked', 'suspended', 'transferred'],
    suspended: ['active', 'revoked', 'expired'],
    released: [],
    expired: [],
    revoked: [],
    transferred: [],
  },
  proposal: {
    draft: ['pending', 'rejected', 'withdrawn'],
    pending: ['in_review', 'revision_requested', 'rejected', 'withdrawn'],
    in_review: ['approved', 'revision_requested', 'rejected', 'withdrawn'],
    revision_requested: ['pending', 'rejected', 'withdrawn'],
    approved: ['applying', 'pending', 'revision_requested', 'rejected', 'withdrawn'],
    applying: ['accepted', 'approved'],
    accepted: ['reverted'],
    reverted: [],
    rejected: [],
    withdrawn: [],
  },
  session: {
    starting: ['running', 'failed', 'timed_out', 'cancelled', 'orphaned'],
    running: ['exporting', 'paused', 'failed', 'timed_out', 'cancelled', 'orphaned', 'ended'],
    paused: ['running', 'failed', 'timed_out', 'cancelled', 'orphaned'],
    exporting: ['succeeded', 'failed', 'timed_out', 'cancelled', 'orphaned'],
    succeeded: [],
    failed: [],
    timed_out: [],
    cancelled: [],
    orphaned: [],
    ended: [],
  },
  transaction: {
    prepared: ['verified', 'aborted'],
    verified: ['applying', 'aborted'],
    applying: ['applied', 'aborted'],
    applied: ['reverted'],
    reverted: [],
    aborted: [],
  },
  turn: {
    queued: ['granted'],
    granted: ['started', 'expired'],
    started: ['completed', 'expired'],
    completed: [],
    expired: [],
  },
} as const satisfies Record<string, Record<string, readonly string[]>>;

export type LifecycleEntity = keyof typeof LIFECYCLES;
export type StatusOf<E extends LifecycleEntity> = keyof (typeof LIFECYCLES)[E] & string;
export type RunStatus = StatusOf<'run'>;
export type TaskStatus = StatusOf<'task'>;
export type AgentStatus = StatusOf<'agent'>;
export type ClaimStatus = StatusOf<'claim'>;
export type ProposalStatus = StatusOf<'proposal'>;
export type SessionStatus = StatusOf<'session'>;
export type TransactionStatus = StatusOf<'transaction'>;
export type TurnStatus = StatusOf<'turn'>;

export interface IllegalTransition {
  readonly code: 'illegal_transition';
  readonly entity: LifecycleEntity;
  readonly id: string;
  readonly from: string;
  readonly event: string;
  readonly message: string;
  readonly remedy: string;
}

export function legalTargets(entity: LifecycleEntity, from: string): readonly string[] {
  const table: Record<string, readonly string[]> = LIFECYCLES[entity];
  return Object.hasOwn(table, from) ? (table[from] ?? []) : [];
}

/** Answers the new status, or the typed refusal that names what was tried. */
export function transition<E extends LifecycleEntity>(
  entity: E,
  id: string,
  from: StatusOf<E>,
  to: StatusOf<E>,
): Result<StatusOf<E>, IllegalTransition> {
  const targets = legalTargets(entity, from);
  if (targets.includes(to)) return ok(to);
  return err({
    code: 'illegal_transition',
    entity,
    id,
    from,
    event: to,
    message: `${entity} ${id} is ${from} and can't become ${to}`,
    remedy: targets.length === 0 ? `${from} is final` : `from ${from} it can only become ${targets.join(', ')}`,
  });
}

export function isTerminal(entity: LifecycleEntity, status: string): boolean {
  return legalTargets(entity, status).length === 0;
}
