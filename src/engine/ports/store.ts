import type {
  AgentId,
  ClaimId,
  CountedEntity,
  ObjectId,
  ProposalId,
  RequestId,
  RunId,
  SessionId,
  TaskId,
  TestRunId,
  TransactionId,
} from '../domain/ids.ts';
import type {
  AgentRecord,
  ApprovalRecord,
  ClaimRecord,
  EventRecord,
  NewEvent,
  ProposalRecord,
  RequestRecord,
  RevisionRecord,
  RunRecord,
  SessionRecord,
  TaskRecord,
  TestRunRecord,
  TransactionPhaseRecord,
  TransactionRecord,
} from '../domain/records.ts';
import type { Result } from '../domain/result.ts';

/** One page of a list: ids ascending unless a method says otherwise. */
export interface Page {
  /** 1–200. */
  readonly limit: number;
  /** Opaque; pass back what `next` said. */
  readonly after?: string | undefined;
}

export interface Repository<Id extends string, R> {
  get(id: Id): R | null;
  /** Replaces the row; the status may only move along its lifecycle table (the database refuses anything else). */
  update(record: R): void;
  insert(record: R): void;
  /** All rows, oldest first. */
  all(): readonly R[];
}

export interface RunRepository extends Repository<RunId, RunRecord> {
  /** Runs whose status is not terminal and not stopped, newest first. */
  live(): readonly RunRecord[];
}
export interface TaskRepository extends Repository<TaskId, TaskRecord> {
  ofRun(runId: RunId): readonly TaskRecord[];
}
export interface AgentRepository extends Repository<AgentId, AgentRecord> {}
export interface SessionRepository extends Repository<SessionId, SessionRecord> {
  ofRun(runId: RunId): readonly SessionRecord[];
  ofTask(taskId: TaskId): readonly SessionRecord[];
  /** Sessions in a non-terminal status. */
  live(): readonly SessionRecord[];
}
export interface ClaimRepository extends Repository<ClaimId, ClaimRecord> {
  /** Active claims whose path equals, contains or lies inside the given one: an indexed lookup, never a scan. */
  activeOverlapping(resourceKind: 'file' | 'directory', path: string): readonly ClaimRecord[];
  active(): readonly ClaimRecord[];
  ofSession(sessionId: SessionId): readonly ClaimRecord[];
  nextFencingToken(): number;
}
export interface ProposalRepository extends Repository<ProposalId, ProposalRecord> {
  ofRun(runId: RunId): readonly ProposalRecord[];
  ofTask(taskId: TaskId): readonly ProposalRecord[];
  insertRevision(revision: RevisionRecord): void;
  revision(proposalId: ProposalId, number: number): RevisionRecord | null;
  revisions(proposalId: ProposalId): readonly RevisionRecord[];
}
export interface TestRunRepository extends Repository<TestRunId, TestRunRecord> {
  ofRevision(proposalId: ProposalId, revision: number): readonly TestRunRecord[];
}
export interface ApprovalRepository {
  insert(record: ApprovalRecord): void;
  ofRevision(proposalId: ProposalId, revision: number): readonly ApprovalRecord[];
  all(): readonly ApprovalRecord[];
}
export interface TransactionRepository extends Repository<TransactionId, TransactionRecord> {
  /** Transactions in prepared, verified or applying: what recovery must close. */
  open(): readonly TransactionRecord[];
  ofProposal(proposalId: ProposalId): readonly TransactionRecord[];
  insertPhase(phase: TransactionPhaseRecord): void;
  /** Closes the phase row (same transactionId and sequence). */
  updatePhase(phase: TransactionPhaseRecord): void;
  phases(id: TransactionId): readonly TransactionPhaseRecord[];
}
export interface RequestRepository extends Repository<RequestId, RequestRecord> {
  pending(): readonly RequestRecord[];
}

export interface EventFilter {
  readonly afterId?: number | undefined;
  readonly upToId?: number | undefined;
  readonly runId?: RunId | undefined;
  readonly type?: string | undefined;
  readonly entity?: string | undefined;
  readonly entityId?: string | undefined;
  readonly limit: number;
  /** True: the newest `limit` rows, still returned ascending by id. */
  readonly newest?: boolean | undefined;
}

export interface Repositories {
  readonly runs: RunRepository;
  readonly tasks: TaskRepository;
  readonly agents: AgentRepository;
  readonly sessions: SessionRepository;
  readonly claims: ClaimRepository;
  readonly proposals: ProposalRepository;
  readonly testRuns: TestRunRepository;
  readonly approvals: ApprovalRepository;
  readonly transactions: TransactionRepository;
  readonly requests: RequestRepository;
  readonly events: { list(filter: EventFilter): readonly EventRecord[]; lastId(): number; lastDigest(): string };
  /** Small facts of the project, e.g. `project_id`. */
  readonly facts: { get(key: string): string | null; set(key: string, value: string): void };
}

/** Inside one `BEGIN IMMEDIATE`: rows and their events commit together or not at all. */
export interface WriteScope extends Repositories {
  nextId<E extends CountedEntity>(entity: E): string;
  /** Appends and answers the row with its id and chained digest. */
  append(event: NewEvent): EventRecord;
}

export interface StoreError {
  readonly code: 'store_busy' | 'store_failed' | 'store_newer' | 'store_unsupported_filesystem';
  readonly message: string;
  readonly remedy: string;
}

export interface Store {
  /** One read transaction: everything `fn` sees is one snapshot. `fn` is synchronous. */
  read<T>(fn: (repositories: Repositories) => T): T;
  /**
   * One immediate transaction; `fn` is synchronous and may throw to roll everything back. When another process holds
   * the write lock it waits without blocking the event loop, at most `timeoutMs` (default 10,000), then `store_busy`.
   * `full`: the commit is on the disk when the promise resolves (decisions and applications); `normal`: survives a
   * crash of the process, not of the machine (telemetry).
   */
  write<T>(
    durability: 'full' | 'normal',
    fn: (scope: WriteScope) => T,
    options?: { readonly timeoutMs?: number },
  ): Promise<Result<T, StoreError>>;
  /**
   * Calls back after every commit by any process with the range of new event ids, coalesced; never concurrently, and
   * an exception in one listener reaches no other. Polls `PRAGMA data_version` every 50 ms for other processes.
   */
  subscribe(listener: (range: { readonly fromId: number; readonly toId: number }) => void): { close(): void };
  close(): void;
}

/** The one process that owns the engine of a project; held until `release`, freed by the kernel if we are killed. */
export interface OwnerLock {
  release(): void;
}

export interface OwnerInfo {
  readonly pid: number;
  readonly startedAt: string;
  readonly command: string;
}

export interface OwnerLocks {
  /** Null when another process holds it; `info` says who, for display only. */
  tryAcquire(command: string): Result<
    OwnerLock,
    {
      readonly code: 'engine_owned';
      readonly owner: OwnerInfo | null;
      readonly message: string;
      readonly remedy: string;
    }
  >;
  owner(): OwnerInfo | null;
}

export type { ObjectId };
