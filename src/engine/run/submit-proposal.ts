import { refuse } from '../app/deps.ts';
import { mustMove } from '../app/moves.ts';
import { engineError } from '../domain/errors.ts';
import type { ProposalId } from '../domain/ids.ts';
import type { Principal } from '../domain/principal.ts';
import type { ProposalRecord, RevisionRecord, SessionRecord, TaskRecord } from '../domain/records.ts';
import type { EffectivePolicy } from '../ports/policy-source.ts';
import type { BuiltRevision } from '../ports/private-repository.ts';
import type { WriteScope } from '../ports/store.ts';

export interface Submission {
  readonly session: SessionRecord;
  readonly task: TaskRecord;
  readonly built: BuiltRevision;
  readonly policy: EffectivePolicy;
  /** Proposal that was sent back and gets a new revision, or null for a new one. */
  readonly continues: ProposalRecord | null;
}

/** Inserts the proposal, or the next revision of the one that was sent back; the task goes to review. */
export function submitProposal(scope: WriteScope, now: string, submission: Submission): ProposalRecord {
  const { session, task, built, policy, continues } = submission;
  const author: Principal = `agent:${session.agentId}`;
  const number = continues === null ? 1 : continues.currentRevision + 1;
  const proposal = continues ?? insertDraft(scope, now, submission, author);
  const revision: RevisionRecord = {
    proposalId: proposal.id,
    number,
    source: 'workspace',
    author,
    parent: continues === null ? null : continues.currentRevision,
    baseCommit: built.baseCommit,
    baseTree: built.baseTree,
    resultTree: built.resultTree,
    patchDigest: built.patchDigest,
    rollbackPlan: null,
    changes: built.changes.map((change) => ({ ...change })),
    additions: built.additions,
    deletions: built.deletions,
    highRiskPaths: built.highRiskPaths,
    policyDigest: policy.digest,
    policy: policy.policy,
    createdAt: now,
  };
  scope.proposals.insertRevision(revision);
  const moved = mustMove(scope, 'proposal', proposal, now, {
    to: 'pending',
    by: author,
    set: { currentRevision: number, sessionId: session.id, agentId: session.agentId },
    data: {
      revision: number,
      baseCommit: built.baseCommit,
      resultTree: built.resultTree,
      patchDigest: built.patchDigest,
      files: built.changes.length,
    },
  });
  const current = scope.tasks.get(task.id) ?? refuse(engineError('not_found', `task ${task.id} is gone`, ''));
  if (current.status === 'in_progress')
    mustMove(scope, 'task', current, now, {
      to: 'in_review',
      by: 'system',
      reason: `${proposal.id} revision ${number}`,
    });
  return moved;
}

function insertDraft(scope: WriteScope, now: string, { session, task }: Submission, author: Principal): ProposalRecord {
  const draft: ProposalRecord = {
    id: scope.nextId('proposal') as ProposalId,
    runId: task.runId,
    taskId: task.id,
    agentId: session.agentId,
    sessionId: session.id,
    title: task.title,
    status: 'draft',
    statusReason: null,
    currentRevision: 1,
    createdAt: now,
    updatedAt: now,
  };
  scope.proposals.insert(draft);
  scope.append({
    type: 'proposal.draft',
    principal: author,
    entity: 'proposal',
    entityId: draft.id,
    runId: draft.runId,
    data: { taskId: task.id, sessionId: session.id, title: draft.title },
  });
  return draft;
}
