import { decide } from '../app/deps.ts';
import { mustMove } from '../app/moves.ts';
import { retryDelayMs } from '../domain/backoff.ts';
import type { EngineError } from '../domain/errors.ts';
import type { SessionId } from '../domain/ids.ts';
import { isTerminal, type SessionStatus } from '../domain/lifecycle.ts';
import type { SessionRecord, TaskRecord } from '../domain/records.ts';
import type { Result } from '../domain/result.ts';
import type { WriteScope } from '../ports/store.ts';
import type { WorkDeps } from './deps.ts';

export interface SessionEnding {
  readonly status: Extract<SessionStatus, 'failed' | 'timed_out' | 'cancelled' | 'orphaned'>;
  readonly reason: string;
  /** What the next attempt is told; null: the reason. */
  readonly feedback?: string | null;
  /** `again`: while attempts are left; `give_back`: at once and without counting this attempt; `no`: it would end the same way. */
  readonly retry: 'again' | 'give_back' | 'no';
  readonly set?: Partial<
    Pick<
      SessionRecord,
      | 'exitCode'
      | 'stdoutBytes'
      | 'stderrBytes'
      | 'stdoutTruncated'
      | 'stderrTruncated'
      | 'durations'
      | 'usage'
      | 'externalId'
    >
  >;
}

/** Ends a session that did not succeed and gives its task back, in one commit. */
export async function endSession(
  deps: WorkDeps,
  sessionId: SessionId,
  ending: SessionEnding,
): Promise<Result<void, EngineError>> {
  return decide(deps.store, (scope) => {
    const session = scope.sessions.get(sessionId);
    if (session && !isTerminal('session', session.status)) recordSessionEnd(deps, scope, session, ending);
  });
}

/** For callers that already are inside a write. */
export function recordSessionEnd(
  deps: WorkDeps,
  scope: WriteScope,
  session: SessionRecord,
  ending: SessionEnding,
): void {
  const now = deps.clock.now();
  mustMove(scope, 'session', session, now, {
    to: ending.status,
    by: 'system',
    reason: ending.reason,
    set: { ...ending.set, endedAt: now },
  });
  freeAgent(scope, session, now);
  releaseSessionClaims(scope, session, now);
  const task = session.taskId === null ? null : scope.tasks.get(session.taskId);
  if (!task || (task.status !== 'assigned' && task.status !== 'in_progress')) return;
  const maxAttempts = deps.settings.current().maxAttempts;
  if (ending.retry === 'give_back') {
    mustMove(scope, 'task', task, now, {
      to: 'open',
      by: 'system',
      reason: ending.reason,
      set: {
        attempts: Math.max(0, task.attempts - 1),
        ...(ending.feedback ? { feedback: feedbackAfter(scope, task, ending.feedback) } : {}),
      },
    });
  } else if (ending.retry === 'again' && task.attempts < maxAttempts) {
    const delayMs = retryDelayMs(task.attempts, deps.random());
    mustMove(scope, 'task', task, now, {
      to: 'open',
      by: 'system',
      reason: `${session.id} ${ending.status}: ${ending.reason}`,
      set: {
        feedback: feedbackAfter(
          scope,
          task,
          ending.feedback ?? `Session ${session.id} ${ending.status}: ${ending.reason}`,
        ),
        notBefore: new Date(deps.clock.nowMs() + delayMs).toISOString(),
      },
    });
  } else {
    const why =
      ending.retry === 'again'
        ? `${session.id} ${ending.status} on attempt ${task.attempts} of ${maxAttempts}`
        : `${session.id} ${ending.status}`;
    mustMove(scope, 'task', task, now, {
      to: ending.status === 'cancelled' ? 'blocked' : 'failed',
      by: 'system',
      reason: `${why}: ${ending.reason}`,
    });
  }
}

const MAX_FEEDBACK = 8_000;

/** While a proposal is sent back, the operator's words stay in front: a failed attempt must not make them forgotten. */
function feedbackAfter(scope: WriteScope, task: TaskRecord, news: string): string {
  const sentBack = scope.proposals.ofTask(task.id).some((proposal) => proposal.status === 'revision_requested');
  if (!sentBack || task.feedback === null) return news;
  return `${task.feedback.slice(0, MAX_FEEDBACK)}\n\n${news}`;
}

/** The agent is idle again unless another session of it lives; a drained one is disabled with its last session. */
export function freeAgent(scope: WriteScope, session: SessionRecord, now: string): void {
  const agent = scope.agents.get(session.agentId);
  if (!agent) return;
  const others = scope.sessions.live().some((row) => row.agentId === agent.id && row.id !== session.id);
  if (others) return;
  if (agent.status === 'running') mustMove(scope, 'agent', agent, now, { to: 'idle', by: 'system' });
  if (agent.status === 'draining') mustMove(scope, 'agent', agent, now, { to: 'disabled', by: 'system' });
}

export function releaseSessionClaims(scope: WriteScope, session: SessionRecord, now: string): void {
  for (const claim of scope.claims.ofSession(session.id)) {
    if (claim.status === 'active')
      mustMove(scope, 'claim', claim, now, { to: 'released', by: 'system', reason: `${session.id} ended` });
  }
}
