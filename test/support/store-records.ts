import type {
  AgentId,
  ApprovalId,
  ClaimId,
  ObjectId,
  ProposalId,
  RequestId,
  RunId,
  SessionId,
  TaskId,
  TestRunId,
  TransactionId,
} from '../../src/engine/domain/ids.ts';
import type {
  AgentRecord,
  ApprovalRecord,
  ClaimRecord,
  ProposalRecord,
  RequestRecord,
  RevisionRecord,
  RunRecord,
  SessionRecord,
  TaskRecord,
  TestRunRecord,
  TransactionRecord,
} from '../../src/engine/domain/records.ts';
import type { Clock } from '../../src/engine/ports/clock.ts';
import type { WriteScope } from '../../src/engine/ports/store.ts';

export const testClock: Clock = {
  now: () => new Date().toISOString(),
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

const AT = '2026-03-01T09:30:00.000Z';
const COMMIT = 'a'.repeat(40) as ObjectId;

/** One row of every kind, each referring to the ones before it. */
export function insertOneOfEach(scope: WriteScope): void {
  scope.runs.insert(aRun('R-1' as RunId));
  scope.agents.insert(anAgent());
  scope.tasks.insert(aTask());
  scope.sessions.insert(aSession());
  scope.claims.insert(aClaim('C-1', 'src/a.ts', 1));
  scope.proposals.insert(aProposal());
  scope.proposals.insertRevision(aRevision());
  scope.testRuns.insert(aTestRun());
  scope.approvals.insert(anApproval());
  scope.transactions.insert(aTransaction());
  scope.requests.insert(aRequest());
}

export function aRun(id: RunId): RunRecord {
  return {
    id,
    goal: 'make it work',
    status: 'active',
    statusReason: null,
    scope: ['src/**'],
    targetRef: 'refs/heads/main',
    approveMode: 'operator',
    maxIterations: 5,
    iterations: 0,
    deadlineAt: null,
    createdAt: AT,
    updatedAt: AT,
  };
}

export function anAgent(): AgentRecord {
  return {
    id: 'builder' as AgentId,
    role: 'Implementer',
    adapter: 'codex',
    model: 'm',
    maxSessions: 1,
    status: 'idle',
    enabledByOperator: true,
    retired: false,
    updatedAt: AT,
  };
}

export function aTask(): TaskRecord {
  return {
    id: 'T-1' as TaskId,
    runId: 'R-1' as RunId,
    title: 'one thing',
    body: 'with a \u0000 and a 🙂',
    status: 'proposed',
    statusReason: null,
    readablePaths: ['**'],
    writablePaths: ['src/a.ts'],
    risk: 'normal',
    priority: -3,
    role: 'Implementer',
    agentId: 'builder' as AgentId,
    dependsOn: [],
    expectedTests: [['npm', 'test']],
    attempts: 0,
    notBefore: null,
    feedback: null,
    createdBy: 'operator',
    createdAt: AT,
    updatedAt: AT,
  };
}

export function aSession(): SessionRecord {
  return {
    id: 'S-1' as SessionId,
    agentId: 'builder' as AgentId,
    role: 'Implementer',
    runId: 'R-1' as RunId,
    taskId: 'T-1' as TaskId,
    adapter: 'codex',
    model: 'm',
    mode: 'start',
    status: 'starting',
    statusReason: null,
    attempt: 1,
    baseCommit: COMMIT,
    imageDigest: 'sha256:0',
    containerId: null,
    engineInstance: 'e1',
    externalId: null,
    withheld: ['.env'],
    exitCode: null,
    stdoutBytes: 5_000_000_000,
    stderrBytes: 0,
    stdoutTruncated: true,
    stderrTruncated: false,
    usage: { inputTokens: 10, outputTokens: 2, usd: 0.25 },
    createdAt: AT,
    startedAt: null,
    endedAt: null,
    lastSeenAt: null,
    durations: { create: 9.5 },
  };
}

export function aClaim(id: string, path: string, fencingToken: number): ClaimRecord {
  return {
    id: id as ClaimId,
    runId: 'R-1' as RunId,
    taskId: 'T-1' as TaskId,
    sessionId: 'S-1' as SessionId,
    agentId: 'builder' as AgentId,
    mode: 'write',
    resourceKind: path.endsWith('/') ? 'directory' : 'file',
    path,
    status: 'active',
    statusReason: null,
    fencingToken,
    expiresAt: AT,
    createdAt: AT,
    updatedAt: AT,
  };
}

export function aProposal(): ProposalRecord {
  return {
    id: 'P-1' as ProposalId,
    runId: 'R-1' as RunId,
    taskId: 'T-1' as TaskId,
    agentId: 'builder' as AgentId,
    sessionId: 'S-1' as SessionId,
    title: 'the change',
    status: 'draft',
    statusReason: null,
    currentRevision: 1,
    createdAt: AT,
    updatedAt: AT,
  };
}

export function aRevision(): RevisionRecord {
  return {
    proposalId: 'P-1' as ProposalId,
    number: 1,
    source: 'workspace',
    author: 'agent:builder',
    parent: null,
    baseCommit: COMMIT,
    baseTree: COMMIT,
    resultTree: COMMIT,
    patchDigest: 'd',
    rollbackPlan: null,
    changes: [{ path: 'src/a.ts', oldMode: null, newMode: '100644', oldId: null, newId: COMMIT }],
    additions: 1,
    deletions: 0,
    highRiskPaths: [],
    policyDigest: 'p',
    policy: { testsRequired: true, humanApprovalRequired: false },
    createdAt: AT,
  };
}

export function aTestRun(): TestRunRecord {
  return {
    id: 'TR-1' as TestRunId,
    proposalId: 'P-1' as ProposalId,
    revision: 1,
    argv: ['npm', 'test'],
    resultTree: COMMIT,
    imageDigest: 'sha256:0',
    status: 'running',
    exitCode: null,
    detail: null,
    logFile: null,
    logTruncated: false,
    startedAt: AT,
    endedAt: null,
  };
}

export function anApproval(): ApprovalRecord {
  return {
    id: 'A-1' as ApprovalId,
    proposalId: 'P-1' as ProposalId,
    revision: 1,
    principal: 'operator',
    origin: 'tui',
    carriedFrom: null,
    note: 'fine',
    at: AT,
  };
}

export function aTransaction(): TransactionRecord {
  return {
    id: 'TX-1' as TransactionId,
    kind: 'apply',
    proposalId: 'P-1' as ProposalId,
    revision: 1,
    revertsId: null,
    status: 'prepared',
    statusReason: null,
    needsOperator: false,
    targetRef: 'refs/heads/main',
    oldCommit: COMMIT,
    newCommit: null,
    journal: '{}',
    createdAt: AT,
    endedAt: null,
  };
}

export function aRequest(): RequestRecord {
  return {
    id: 'Q-1' as RequestId,
    kind: 'proposal.apply',
    payload: { proposalId: 'P-1' },
    principal: 'operator',
    status: 'pending',
    result: null,
    createdAt: AT,
    endedAt: null,
  };
}
