import type { AgentRecord, TaskRecord } from './records.ts';

export interface SchedulingInput {
  /** Tasks of runs that take new work. */
  readonly tasks: readonly TaskRecord[];
  /** All tasks of those runs, to look up dependencies. */
  readonly agents: readonly AgentRecord[];
  /** Live sessions per agent id. */
  readonly liveSessions: ReadonlyMap<string, number>;
  readonly liveTotal: number;
  readonly maxSessions: number;
  /** Now, RFC 3339, to compare with `notBefore`. */
  readonly now: string;
  /** True when the claims that the task would take for this agent conflict with a live claim of another agent. */
  readonly claimsConflict: (task: TaskRecord, agent: AgentRecord) => boolean;
  /** Tasks whose proposal was sent back and that have no live session. */
  readonly revisionRequested: ReadonlySet<string>;
}

export interface Assignment {
  readonly task: TaskRecord;
  readonly agent: AgentRecord;
}

/**
 * Which ready tasks start now: highest priority first, then oldest; each to an enabled agent of its
 * role with free capacity. A task whose claims conflict waits instead of failing.
 */
export function planAssignments(input: SchedulingInput): readonly Assignment[] {
  const load = new Map(input.liveSessions);
  const assignments: Assignment[] = [];
  let total = input.liveTotal;
  for (const task of readyTasks(input)) {
    if (total >= input.maxSessions) break;
    const agent = freeAgent(task, input, load);
    if (!agent) continue;
    load.set(agent.id, (load.get(agent.id) ?? 0) + 1);
    total += 1;
    assignments.push({ task, agent });
  }
  return assignments;
}

/** Ready: open (or sent back for a revision), due, and every dependency done. In dispatch order. */
export function readyTasks(input: Pick<SchedulingInput, 'tasks' | 'now' | 'revisionRequested'>): readonly TaskRecord[] {
  const byId = new Map(input.tasks.map((task) => [task.id as string, task]));
  return input.tasks
    .filter((task) => task.status === 'open' || (task.status === 'in_progress' && input.revisionRequested.has(task.id)))
    .filter((task) => task.notBefore === null || task.notBefore <= input.now)
    .filter((task) => task.dependsOn.every((id) => byId.get(id)?.status === 'done'))
    .toSorted(
      (a, b) => b.priority - a.priority || a.createdAt.localeCompare(b.createdAt) || idNumber(a.id) - idNumber(b.id),
    );
}

function freeAgent(task: TaskRecord, input: SchedulingInput, load: ReadonlyMap<string, number>): AgentRecord | null {
  const able = input.agents.filter(
    (agent) =>
      !agent.retired &&
      agent.enabledByOperator &&
      (agent.status === 'idle' || agent.status === 'running') &&
      (task.agentId === null ? agent.role === task.role : agent.id === task.agentId) &&
      (load.get(agent.id) ?? 0) < agent.maxSessions &&
      !input.claimsConflict(task, agent),
  );
  return able.toSorted((a, b) => (load.get(a.id) ?? 0) - (load.get(b.id) ?? 0) || a.id.localeCompare(b.id))[0] ?? null;
}

function idNumber(id: string): number {
  return Number(id.slice(id.indexOf('-') + 1));
}
