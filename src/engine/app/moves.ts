import { type EngineError, engineError } from '../domain/errors.ts';
import type { LifecycleEntity, StatusOf } from '../domain/lifecycle.ts';
import { transition } from '../domain/lifecycle.ts';
import type { Principal } from '../domain/principal.ts';
import type {
  AgentRecord,
  ClaimRecord,
  ProposalRecord,
  RunRecord,
  SessionRecord,
  TaskRecord,
} from '../domain/records.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { WriteScope } from '../ports/store.ts';

interface Movable {
  run: RunRecord;
  task: TaskRecord;
  agent: AgentRecord;
  claim: ClaimRecord;
  proposal: ProposalRecord;
  session: SessionRecord;
}
type MovableEntity = keyof Movable & LifecycleEntity;

export interface Move<E extends MovableEntity> {
  readonly to: StatusOf<E>;
  readonly by: Principal;
  /** Shown with the status; null clears it. */
  readonly reason?: string | null;
  /** Further fields that change in the same step. */
  readonly set?: Partial<Omit<Movable[E], 'id' | 'status' | 'statusReason' | 'updatedAt'>>;
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * Moves one row along its lifecycle and appends the event `<entity>.<status>` in the same transaction (laws 5 and 6).
 * Repeating the present status changes nothing and makes no event.
 */
export function move<E extends MovableEntity>(
  scope: WriteScope,
  entity: E,
  record: Movable[E],
  now: string,
  change: Move<E>,
): Result<Movable[E], EngineError> {
  const from = record.status as StatusOf<E>;
  if (from === change.to) return ok(record);
  const allowed = transition(entity, record.id, from, change.to);
  if (!allowed.ok)
    return err(engineError('illegal_transition', allowed.error.message, allowed.error.remedy, { ...allowed.error }));
  const next = {
    ...record,
    ...change.set,
    status: change.to,
    ...reasonOf(entity, change.reason),
    ...stampOf(entity, now),
  } as Movable[E];
  save(scope, entity, next);
  scope.append({
    type: `${entity}.${change.to}`,
    principal: change.by,
    entity,
    entityId: record.id,
    runId: runOf(entity, next),
    data: { from, ...(change.reason ? { reason: change.reason } : {}), ...change.data },
  });
  return ok(next);
}

/** Like `move`, for moves that the caller knows to be legal: a refusal is a bug and rolls the transaction back. */
export function mustMove<E extends MovableEntity>(
  scope: WriteScope,
  entity: E,
  record: Movable[E],
  now: string,
  change: Move<E>,
): Movable[E] {
  const moved = move(scope, entity, record, now, change);
  if (!moved.ok) throw new Error(moved.error.message);
  return moved.value;
}

function reasonOf(entity: MovableEntity, reason: string | null | undefined): Record<string, unknown> {
  return entity === 'agent' ? {} : { statusReason: reason ?? null };
}

/** Sessions keep their own times; every other record says when it last changed. */
function stampOf(entity: MovableEntity, now: string): Record<string, unknown> {
  return entity === 'session' ? {} : { updatedAt: now };
}

function runOf(entity: MovableEntity, record: Movable[MovableEntity]): RunRecord['id'] | null {
  if (entity === 'run') return (record as RunRecord).id;
  return 'runId' in record ? record.runId : null;
}

function save<E extends MovableEntity>(scope: WriteScope, entity: E, record: Movable[E]): void {
  const repositories = {
    run: scope.runs,
    task: scope.tasks,
    agent: scope.agents,
    claim: scope.claims,
    proposal: scope.proposals,
    session: scope.sessions,
  };
  (repositories[entity] as { update(row: Movable[E]): void }).update(record);
}
