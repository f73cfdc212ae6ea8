import { type EngineError, engineError } from '../domain/errors.ts';
import type { AgentId } from '../domain/ids.ts';
import type { Principal } from '../domain/principal.ts';
import type { Result } from '../domain/result.ts';
import { type DecisionDeps, decide, notFound, orRefuse, refuse } from './deps.ts';
import { move } from './moves.ts';

/** Enabling a draining agent cancels the drain; repeating a state makes no event. */
export async function enableAgent(
  deps: DecisionDeps,
  agentId: string,
  by: Principal,
): Promise<Result<Record<string, never>, EngineError>> {
  return decide(deps.store, (scope) => {
    const agent = scope.agents.get(agentId as AgentId) ?? refuse(notFound('agent', agentId));
    if (agent.enabledByOperator && agent.status !== 'draining' && agent.status !== 'disabled') return {};
    const busy = scope.sessions.live().some((session) => session.agentId === agent.id);
    const to = agent.status === 'disabled' || !busy ? 'idle' : 'running';
    orRefuse(move(scope, 'agent', agent, deps.clock.now(), { to, by, set: { enabledByOperator: true } }));
    return {};
  });
}

/**
 * Takes an agent out of the work. Check and write share one transaction: with live sessions it is refused unless told
 * to drain, or (`now`) the caller stops the sessions whose ids come back.
 */
export async function disableAgent(
  deps: DecisionDeps,
  agentId: string,
  how: 'refuse' | 'drain' | 'now',
  by: Principal,
): Promise<Result<{ readonly stop: readonly string[] }, EngineError>> {
  return decide(deps.store, (scope) => {
    const agent = scope.agents.get(agentId as AgentId) ?? refuse(notFound('agent', agentId));
    const live = scope.sessions.live().filter((session) => session.agentId === agent.id);
    if (live.length > 0 && how === 'refuse') {
      refuse(
        engineError(
          'illegal_transition',
          `agent ${agent.id} has live sessions: ${live.map((session) => session.id).join(', ')}`,
          'use --drain to let them finish or --now to stop them',
        ),
      );
    }
    if (agent.status === 'disabled') return { stop: [] };
    const now = deps.clock.now();
    const draining = orRefuse(
      move(scope, 'agent', agent, now, { to: 'draining', by, set: { enabledByOperator: false } }),
    );
    if (live.length === 0) orRefuse(move(scope, 'agent', draining, now, { to: 'disabled', by }));
    return { stop: how === 'now' ? live.map((session) => session.id) : [] };
  });
}
