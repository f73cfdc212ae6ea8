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
} from './ids.ts';
import type {
  AgentStatus,
  ClaimStatus,
  ProposalStatus,
  RunStatus,
  SessionStatus,
  TaskStatus,
  TransactionStatus,
} from './lifecycle.ts';
import type { Principal } from './principal.ts';

/** Times are UTC RFC 3339 with milliseconds. */
export type Timestamp = string;

export type Role = 'Chair' | 'Architect' | 'Implementer' | 'Reviewer' | 'Tester' | 'Security' | 'MemoryOracle';
export type Risk = 'low' | 'normal' | 'high' | 'critical';
/** What the human gate asks in this run: the operator always, only where the policy asks, or nothing is ever applied. */
export type ApproveMode = 'operator' | 'policy' | 'never';

export interface RunRecord {
  readonly id: RunId;
  readonly goal: string;
  readonly status: RunStatus;
  readonly statusReason: string | null;
  /** Globs the operator gave the run; empty means the configuration's default task scope. */
  readonly scope: readonly string[];
  /** Full ref name that transactions land on, e.g. `refs/heads/main`, or `HEAD` when it was detached at the start. */
  readonly targetRef: string;
  readonly approveMode: ApproveMode;
  readonly maxIterations: number | null;
  /** Sessions started so far in this run. */
  readonly iterations: number;
  readonly deadlineAt: Timestamp | null;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

export interface TaskRecord {
  readonly id: TaskId;
  readonly runId: RunId;
  readonly title: string;
  readonly body: string;
  readonly status: TaskStatus;
  readonly statusReason: string | null;
  readonly readablePaths: readonly string[];
  readonly writablePaths: readonly string[];
  readonly risk: Risk;
  /** Higher first. */
  readonly priority: number;
  readonly role: Role;
  /** The only agent that may take it, or null for any of the role. */
  readonly agentId: AgentId | null;
  readonly dependsOn: readonly TaskId[];
  /** Commands (argv) that must pass on the revision's result tree, besides the configured ones. */
  readonly expectedTests: readonly (readonly string[])[];
  readonly attempts: number;
  /** Not dispatched before this time (backoff after a failed attempt). */
  readonly notBefore: Timestamp | null;
  /** What the next session is told about earlier attempts: refusals, failed gates, the operator's words. */
  readonly feedback: string | null;
  readonly createdBy: Principal;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

export interface AgentRecord {
  readonly id: AgentId;
  readonly role: Role;
  readonly adapter: string;
  readonly model: string;
  readonly maxSessions: number;
  readonly status: AgentStatus;
  /** The operator's switch, kept across synchronisation with the configuration. */
  readonly enabledByOperator: boolean;
  /** No longer configured; kept for history. */
  readonly retired: boolean;
  readonly updatedAt: Timestamp;
}

export interface SessionUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd: number | null;
}

export interface SessionRecord {
  readonly id: SessionId;
  readonly agentId: AgentId;
  readonly role: Role;
  readonly runId: RunId;
  readonly taskId: TaskId | null;
  readonly adapter: string;
  readonly model: string;
  readonly mode: 'start' | 'resume' | 'external';
  readonly status: SessionStatus;
  readonly statusReason: string | null;
  readonly attempt: number;
  readonly baseCommit: ObjectId;
  readonly imageDigest: string;
  readonly containerId: string | null;
  readonly engineInstance: string;
  readonly externalId: string | null;
  readonly withheld: readonly string[];
  readonly exitCode: number | null;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  readonly usage: SessionUsage | null;
  readonly createdAt: Timestamp;
  readonly startedAt: Timestamp | null;
  readonly endedAt: Timestamp | null;
  readonly lastSeenAt: Timestamp | null;
  /** Milliseconds per lifecycle step, e.g. `{create: 9, start: 80}`. */
  readonly durations: Readonly<Record<string, number>>;
}

export type ClaimMode = 'read' | 'write' | 'review' | 'exclusive';

export interface ClaimRecord {
  readonly id: ClaimId;
  readonly runId: RunId;
  readonly taskId: TaskId | null;
  readonly sessionId: SessionId | null;
  readonly agentId: AgentId;
  readonly mode: ClaimMode;
  /** Only files and directories for now; `path` is a normal repository path (a directory's ends in `/`). */
  readonly resourceKind: 'file' | 'directory';
  readonly path: string;
  readonly status: ClaimStatus;
  readonly statusReason: string | null;
  /** Grows with every claim of the project; never reused. */
  readonly fencingToken: number;
  readonly expiresAt: Timestamp;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

export interface ProposalRecord {
  readonly id: ProposalId;
  readonly runId: RunId;
  readonly taskId: TaskId;
  readonly agentId: AgentId;
  readonly sessionId: SessionId;
  readonly title: string;
  readonly status: ProposalStatus;
  readonly statusReason: string | null;
  readonly currentRevision: number;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** Immutable once inserted. */
export interface RevisionRecord {
  readonly proposalId: ProposalId;
  readonly number: number;
  readonly source: 'workspace' | 'patch' | 'graft';
  readonly author: Principal;
  readonly parent: number | null;
  readonly baseCommit: ObjectId;
  readonly baseTree: ObjectId;
  readonly resultTree: ObjectId;
  readonly patchDigest: string;
  readonly rollbackPlan: string | null;
  /** Touched paths with modes and ids; JSON in the row, the truth stays the two trees. */
  readonly changes: readonly RevisionChange[];
  readonly additions: number;
  readonly deletions: number;
  readonly highRiskPaths: readonly string[];
  /** SHA-256 of the effective policy it is judged by, and that policy itself. */
  readonly policyDigest: string;
  readonly policy: PolicySnapshot;
  readonly createdAt: Timestamp;
}

export interface RevisionChange {
  readonly path: string;
  readonly oldMode: string | null;
  readonly newMode: string | null;
  readonly oldId: string | null;
  readonly newId: string | null;
}

/** The part of the policy that this version enforces. */
export interface PolicySnapshot {
  readonly testsRequired: boolean;
  readonly humanApprovalRequired: boolean;
}

export type TestRunStatus = 'running' | 'passed' | 'failed' | 'error' | 'cancelled';

export interface TestRunRecord {
  readonly id: TestRunId;
  readonly proposalId: ProposalId;
  readonly revision: number;
  readonly argv: readonly string[];
  readonly resultTree: ObjectId;
  readonly imageDigest: string;
  readonly status: TestRunStatus;
  readonly exitCode: number | null;
  /** Why it is an error or was cancelled; also the last lines of output of a failure. */
  readonly detail: string | null;
  readonly logFile: string | null;
  readonly logTruncated: boolean;
  readonly startedAt: Timestamp;
  readonly endedAt: Timestamp | null;
}

export interface ApprovalRecord {
  readonly id: ApprovalId;
  readonly proposalId: ProposalId;
  readonly revision: number;
  readonly principal: Principal;
  /** How the operator said it: on the screen, on a terminal with the id typed, or by a script that was allowed to. */
  readonly origin: 'tui' | 'cli-typed' | 'noninteractive' | 'scripted';
  /** Revision it was carried over from by a graft. */
  readonly carriedFrom: number | null;
  readonly note: string | null;
  readonly at: Timestamp;
}

export interface TransactionRecord {
  readonly id: TransactionId;
  readonly kind: 'apply' | 'rollback';
  readonly proposalId: ProposalId;
  readonly revision: number;
  /** The transaction that a rollback reverts. */
  readonly revertsId: TransactionId | null;
  readonly status: TransactionStatus;
  readonly statusReason: string | null;
  /** True when a recovery left something that a person must look at. */
  readonly needsOperator: boolean;
  readonly targetRef: string;
  readonly oldCommit: ObjectId;
  readonly newCommit: ObjectId | null;
  /** Journal of the transaction manager, opaque to everybody else (JSON text). */
  readonly journal: string;
  readonly createdAt: Timestamp;
  readonly endedAt: Timestamp | null;
}

export interface TransactionPhaseRecord {
  readonly transactionId: TransactionId;
  readonly sequence: number;
  readonly phase: string;
  readonly startedAt: Timestamp;
  readonly endedAt: Timestamp | null;
  readonly outcome: 'ok' | 'failed' | 'recovered' | null;
  readonly detail: string | null;
}

/** A command that only the engine owner can carry out; recorded first, so that another process may ask. */
export interface RequestRecord {
  readonly id: RequestId;
  readonly kind: 'proposal.apply' | 'transaction.rollback' | 'session.stop' | 'proposal.test' | 'run.drain';
  readonly payload: Readonly<Record<string, unknown>>;
  readonly principal: Principal;
  readonly status: 'pending' | 'running' | 'done' | 'failed';
  /** Outcome for the asker: `{code, message, remedy}` on failure, command-specific data on success. */
  readonly result: Readonly<Record<string, unknown>> | null;
  readonly createdAt: Timestamp;
  readonly endedAt: Timestamp | null;
}

/** An immutable row of the log. `digest` covers the row and the digest before it. */
export interface EventRecord {
  readonly id: number;
  readonly at: Timestamp;
  readonly type: string;
  readonly principal: Principal;
  readonly entity: string;
  readonly entityId: string;
  readonly runId: RunId | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly digest: string;
}

export interface NewEvent {
  readonly type: string;
  readonly principal: Principal;
  readonly entity: string;
  readonly entityId: string;
  readonly runId: RunId | null;
  readonly data?: Readonly<Record<string, unknown>>;
}
