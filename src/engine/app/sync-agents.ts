import type { EngineError } from '../domain/errors.ts';
import type { AgentId } from '../domain/ids.ts';
import type { AgentRecord } from '../domain/records.ts';
import type { Result } from '../domain/result.ts';
import { type DecisionDeps, decide } from './deps.ts';

/**
 * Brings the agent rows in line with the configuration: new ones appear, changed ones change, those no longer
 * configured are retired and never deleted. The operator's switch is not touched.
 */
export async function syncAgents(deps: DecisionDeps): Promise<Result<void, EngineError>> {
  return decide(deps.store, (scope) => {
    const now = deps.clock.now();
    const configured = deps.settings.current().agents;
    for (const agent of configured) {
      const row = scope.agents.get(agent.id as AgentId);
      const wanted = {
        role: agent.role,
        adapter: agent.adapter,
        model: agent.model,
        maxSessions: agent.maxSessions,
        retired: false,
      };
      if (!row) {
        const fresh: AgentRecord = {
          id: agent.id as AgentId,
          ...wanted,
          status: 'idle',
          enabledByOperator: true,
          updatedAt: now,
        };
        scope.agents.insert(fresh);
        scope.append({
          type: 'agent.configured',
          principal: 'system',
          entity: 'agent',
          entityId: agent.id,
          runId: null,
          data: wanted,
        });
      } else if (differs(row, wanted)) {
        scope.agents.update({ ...row, ...wanted, updatedAt: now });
        scope.append({
          type: 'agent.configured',
          principal: 'system',
          entity: 'agent',
          entityId: agent.id,
          runId: null,
          data: wanted,
        });
      }
    }
    for (const row of scope.agents.all()) {
      if (row.retired || configured.some((agent) => agent.id === row.id)) continue;
      scope.agents.update({ ...row, retired: true, updatedAt: now });
      scope.append({ type: 'agent.retired', principal: 'system', entity: 'agent', entityId: row.id, runId: null });
    }
  });
}

function differs(
  row: AgentRecord,
  wanted: Pick<AgentRecord, 'role' | 'adapter' | 'model' | 'maxSessions' | 'retired'>,
): boolean {
  return (Object.keys(wanted) as (keyof typeof wanted)[]).some((key) => row[key] !== wanted[key]);
}
