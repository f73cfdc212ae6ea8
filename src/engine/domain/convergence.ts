import type { ProposalRecord, RunRecord, SessionRecord, TaskRecord } from './records.ts';

export interface ConvergenceInput {
  readonly run: RunRecord;
  readonly tasks: readonly TaskRecord[];
  readonly proposals: readonly ProposalRecord[];
  readonly sessions: readonly SessionRecord[];
  /** Proposals that only the operator can move (every other gate is settled). */
  readonly proposalsWaitingForOperator: ReadonlySet<string>;
  /** Tasks whose last session succeeded without a change. */
  readonly tasksWaitingForOperator: ReadonlySet<string>;
  /** Open tasks that no enabled agent may take. */
  readonly tasksWithoutAgent: ReadonlySet<string>;
}

export type Convergence =
  | { readonly kind: 'awaiting_work' }
  /** `needsSession`: nothing moves any more unless a further session starts. */
  | { readonly kind: 'work_remains'; readonly needsSession: boolean }
  | { readonly kind: 'awaiting_human'; readonly waitingFor: readonly string[] }
  | { readonly kind: 'blocked'; readonly tasks: readonly string[] }
  | { readonly kind: 'completed'; readonly done: number; readonly failed: number; readonly cancelled: number };

const SETTLED = new Set(['done', 'failed', 'cancelled']);
const PROPOSAL_SETTLED = new Set(['accepted', 'reverted', 'rejected', 'withdrawn']);
const SESSION_LIVE = new Set(['starting', 'running', 'paused', 'exporting']);

/** Where a run stands, per run and never across runs. */
export function converge(input: ConvergenceInput): Convergence {
  const { tasks, proposals, sessions } = input;
  if (tasks.length === 0 && proposals.length === 0) return { kind: 'awaiting_work' };
  if (sessions.some((session) => SESSION_LIVE.has(session.status)))
    return { kind: 'work_remains', needsSession: false };
  const openProposals = proposals.filter((proposal) => !PROPOSAL_SETTLED.has(proposal.status));
  const openTasks = tasks.filter((task) => !SETTLED.has(task.status));
  if (openProposals.length === 0 && openTasks.length === 0) {
    const of = (status: string) => tasks.filter((task) => task.status === status).length;
    return { kind: 'completed', done: of('done'), failed: of('failed'), cancelled: of('cancelled') };
  }
  const waiting = [
    ...openProposals
      .filter((proposal) => input.proposalsWaitingForOperator.has(proposal.id))
      .map((proposal) => proposal.id as string),
    ...openTasks
      .filter((task) => task.status === 'proposed' || input.tasksWaitingForOperator.has(task.id))
      .map((task) => task.id as string),
  ];
  const tasksMove = openTasks.some((task) => canMove(task, input) && !input.tasksWaitingForOperator.has(task.id));
  const proposalsMove = openProposals.some(
    (proposal) => proposal.status !== 'revision_requested' && !input.proposalsWaitingForOperator.has(proposal.id),
  );
  if (tasksMove || proposalsMove) return { kind: 'work_remains', needsSession: !proposalsMove };
  if (waiting.length > 0) return { kind: 'awaiting_human', waitingFor: waiting };
  return { kind: 'blocked', tasks: openTasks.map((task) => task.id) };
}

/** An open task moves when its dependencies are done or can still become done; one in review moves with its proposal. */
function canMove(task: TaskRecord, input: ConvergenceInput, seen: ReadonlySet<string> = new Set()): boolean {
  if (task.status === 'assigned' || (task.status === 'in_progress' && !input.tasksWithoutAgent.has(task.id)))
    return true;
  if (task.status !== 'open' || seen.has(task.id) || input.tasksWithoutAgent.has(task.id)) return false;
  return task.dependsOn.every((id) => {
    const dependency = input.tasks.find((candidate) => candidate.id === id);
    if (!dependency) return false;
    if (dependency.status === 'done') return true;
    return canMove(dependency, input, new Set([...seen, task.id]));
  });
}
