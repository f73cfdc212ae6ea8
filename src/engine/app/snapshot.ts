import type { AttentionItem, EngineState, ProposalView, RevisionView, Snapshot } from '../api.ts';
import type { BaseState } from '../domain/gates.ts';
import { machinePending } from '../domain/gates.ts';
import { isTerminal } from '../domain/lifecycle.ts';
import type { ProposalRecord, RevisionRecord, TaskRecord } from '../domain/records.ts';
import type { Repositories } from '../ports/store.ts';
import type { DecisionDeps } from './deps.ts';
import { settledProposal } from './end-task.ts';
import { evaluateGates } from './evaluate-gates.ts';

export interface SnapshotSurroundings {
  readonly project: Snapshot['project'];
  readonly engine: EngineState;
  readonly bases: ReadonlyMap<string, BaseState>;
}

/** Everything at one instant: one read transaction. */
export function takeSnapshot(deps: DecisionDeps, around: SnapshotSurroundings): Snapshot {
  return deps.store.read((rows) => {
    const proposals = rows.proposals.all().flatMap((proposal) => viewOf(deps, rows, proposal, around.bases));
    const tasks = rows.tasks.all();
    const transactions = rows.transactions.all();
    return {
      lastEventId: rows.events.lastId(),
      at: deps.clock.now(),
      project: around.project,
      engine: around.engine,
      runs: rows.runs.all(),
      tasks,
      agents: rows.agents.all(),
      claims: rows.claims.all(),
      proposals,
      approvals: rows.approvals.all(),
      sessions: rows.sessions.all(),
      transactions,
      attention: [
        ...proposals.flatMap(proposalAttention),
        ...tasks.flatMap((task) => (isOver(rows, task) ? [] : taskAttention(task, proposals))),
        ...transactions
          .filter((transaction) => transaction.needsOperator)
          .map(
            (transaction): AttentionItem => ({
              kind: 'unresolved_transaction',
              entity: 'transaction',
              id: transaction.id,
              text: transaction.statusReason ?? 'needs a look',
            }),
          ),
      ],
    };
  });
}

function viewOf(
  deps: DecisionDeps,
  rows: Repositories,
  proposal: ProposalRecord,
  bases: ReadonlyMap<string, BaseState>,
): readonly ProposalView[] {
  // A settled proposal's base was right when it was settled; an open one without a verdict is pending.
  const base: BaseState = settledProposal(proposal.status)
    ? { kind: 'fresh' }
    : (bases.get(proposal.id) ?? { kind: 'unknown', reason: 'not compared with the target yet' });
  const evaluated = evaluateGates(rows, deps.settings.current(), deps.matches, proposal, base);
  if (!evaluated) return [];
  return [
    {
      ...proposal,
      revision: revisionView(evaluated.revision),
      gates: evaluated.gates,
      approvals: rows.approvals.ofRevision(proposal.id, proposal.currentRevision),
      testRuns: rows.testRuns.ofRevision(proposal.id, proposal.currentRevision),
    },
  ];
}

export function revisionView(revision: RevisionRecord): RevisionView {
  return {
    number: revision.number,
    source: revision.source,
    author: revision.author,
    baseCommit: revision.baseCommit,
    baseTree: revision.baseTree,
    resultTree: revision.resultTree,
    patchDigest: revision.patchDigest,
    files: revision.changes.length,
    additions: revision.additions,
    deletions: revision.deletions,
    touched: revision.changes.map((change) => change.path),
    highRiskPaths: revision.highRiskPaths,
    createdAt: revision.createdAt,
  };
}

function proposalAttention(proposal: ProposalView): readonly AttentionItem[] {
  if (settledProposal(proposal.status) || proposal.status === 'applying' || proposal.status === 'revision_requested')
    return [];
  const failed = proposal.gates.filter((gate) => gate.status === 'failed');
  if (failed.length > 0) {
    return [
      {
        kind: 'failed_gate',
        entity: 'proposal',
        id: proposal.id,
        text: failed.map((gate) => `${gate.id}: ${gate.detail}`).join('; '),
      },
    ];
  }
  if (machinePending(proposal.gates)) return [];
  if (proposal.gates.some((gate) => gate.id === 'human' && gate.status === 'pending')) {
    return [
      { kind: 'approval', entity: 'proposal', id: proposal.id, text: `${proposal.title} waits for your approval` },
    ];
  }
  if (proposal.status === 'approved' && proposal.statusReason !== null) {
    return [{ kind: 'failed_gate', entity: 'proposal', id: proposal.id, text: proposal.statusReason }];
  }
  return [];
}

/** Nothing is left to decide about a task whose run has come to its end. */
function isOver(rows: Repositories, task: TaskRecord): boolean {
  const run = rows.runs.get(task.runId);
  return run === null || isTerminal('run', run.status);
}

function taskAttention(task: TaskRecord, proposals: readonly ProposalView[]): readonly AttentionItem[] {
  if (task.status === 'proposed')
    return [{ kind: 'approval', entity: 'task', id: task.id, text: `${task.title} was proposed by ${task.createdBy}` }];
  if (task.status === 'failed')
    return [{ kind: 'failed_task', entity: 'task', id: task.id, text: task.statusReason ?? task.title }];
  if (task.status === 'blocked') {
    const why = task.statusReason ?? task.title;
    return [
      {
        kind: 'failed_task',
        entity: 'task',
        id: task.id,
        text: `blocked: ${why}; go on with \`roundtable runs resume ${task.runId}\`, or cancel it`,
      },
    ];
  }
  const open = proposals.some((proposal) => proposal.taskId === task.id && !settledProposal(proposal.status));
  if (task.status === 'in_review' && !open)
    return [
      { kind: 'unchanged_session', entity: 'task', id: task.id, text: `${task.title}: the session changed nothing` },
    ];
  return [];
}
