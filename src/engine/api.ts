/**
 * The engine as the screen, the command line and MCP see it: queries answer snapshots, commands answer results,
 * subscriptions answer ranges of event ids. Nothing behind this file is imported by them.
 */
import type { EngineError } from './domain/errors.ts';
import type { Gate } from './domain/gate.ts';
import type { RunId, TaskId, TransactionId } from './domain/ids.ts';
import type { Principal } from './domain/principal.ts';
import type {
  AgentRecord,
  ApprovalRecord,
  ApproveMode,
  ClaimRecord,
  EventRecord,
  ProposalRecord,
  Risk,
  Role,
  RunRecord,
  SessionRecord,
  TaskRecord,
  TestRunRecord,
  TransactionPhaseRecord,
  TransactionRecord,
} from './domain/records.ts';
import type { Result } from './domain/result.ts';
import type { DiffFile } from './ports/private-repository.ts';
import type { OwnerInfo } from './ports/store.ts';

export { type EngineError, ERRORS, type ErrorCode, engineError } from './domain/errors.ts';
export type { Gate, GateId } from './domain/gate.ts';
export type { AgentId, ProposalId, RunId, SessionId, TaskId, TransactionId } from './domain/ids.ts';
export { isTerminal } from './domain/lifecycle.ts';
export type { Principal } from './domain/principal.ts';
export type {
  AgentRecord,
  ApprovalRecord,
  ApproveMode,
  ClaimRecord,
  EventRecord,
  ProposalRecord,
  RevisionRecord,
  Risk,
  Role,
  RunRecord,
  SessionRecord,
  TaskRecord,
  TestRunRecord,
  TransactionPhaseRecord,
  TransactionRecord,
} from './domain/records.ts';
export { err, ok, type Result } from './domain/result.ts';
export type { DiffFile, DiffHunk, DiffLine } from './ports/private-repository.ts';
export type { OwnerInfo } from './ports/store.ts';

/** A revision as lists show it. */
export interface RevisionView {
  readonly number: number;
  readonly source: 'workspace' | 'patch' | 'graft';
  readonly author: Principal;
  readonly baseCommit: string;
  readonly baseTree: string;
  readonly resultTree: string;
  readonly patchDigest: string;
  readonly files: number;
  readonly additions: number;
  readonly deletions: number;
  readonly touched: readonly string[];
  readonly highRiskPaths: readonly string[];
  readonly createdAt: string;
}

export interface ProposalView extends ProposalRecord {
  readonly revision: RevisionView;
  readonly gates: readonly Gate[];
  readonly approvals: readonly ApprovalRecord[];
  readonly testRuns: readonly TestRunRecord[];
}

/** Something that waits for the operator. */
export interface AttentionItem {
  readonly kind: 'approval' | 'failed_gate' | 'failed_task' | 'unresolved_transaction' | 'unchanged_session';
  readonly entity: 'proposal' | 'task' | 'transaction';
  readonly id: string;
  readonly text: string;
}

/** Who runs the engine: this process, another, or nobody. */
export interface EngineState {
  readonly role: 'owner' | 'client';
  /** Null when nobody owns the engine. */
  readonly owner: OwnerInfo | null;
  /** Display text such as `docker 20.10.24`, or null when it is not reachable or not looked for. */
  readonly containerEngine: string | null;
  /** Set when the container engine is needed and doesn't answer. */
  readonly containerEngineProblem: string | null;
  /** Set when a changed configuration was refused and the old one stays in force. */
  readonly configProblem: string | null;
}

/** One consistent reading of everything; lists are oldest first. */
export interface Snapshot {
  readonly lastEventId: number;
  readonly at: string;
  readonly project: {
    readonly name: string;
    readonly root: string;
    readonly branch: string | null;
    readonly head: string | null;
  };
  readonly engine: EngineState;
  readonly runs: readonly RunRecord[];
  readonly tasks: readonly TaskRecord[];
  readonly agents: readonly AgentRecord[];
  readonly claims: readonly ClaimRecord[];
  readonly proposals: readonly ProposalView[];
  readonly approvals: readonly ApprovalRecord[];
  readonly sessions: readonly SessionRecord[];
  readonly transactions: readonly TransactionRecord[];
  readonly attention: readonly AttentionItem[];
}

export interface EventQuery {
  readonly afterId?: number | undefined;
  readonly runId?: string | undefined;
  readonly type?: string | undefined;
  readonly entity?: string | undefined;
  readonly entityId?: string | undefined;
  /** 1–1,000. */
  readonly limit: number;
  readonly newest?: boolean | undefined;
}

export interface LogChunk {
  readonly text: string;
  /** Pass back to read on. */
  readonly nextByte: number;
  /** True when the file ends here and nobody writes to it any more. */
  readonly ended: boolean;
  readonly truncated: boolean;
}

/** Name → input and answer of every query. */
export interface Queries {
  snapshot: { in: Record<string, never>; out: Snapshot };
  events: { in: EventQuery; out: readonly EventRecord[] };
  diff: {
    in: {
      readonly proposalId: string;
      readonly revision?: number | undefined;
      readonly contextLines?: number | undefined;
    };
    out: Result<readonly DiffFile[], EngineError>;
  };
  sessionLog: {
    in: {
      readonly sessionId: string;
      readonly stream: 'stdout' | 'stderr';
      readonly fromByte: number;
      readonly maxBytes: number;
    };
    out: Result<LogChunk, EngineError>;
  };
  testLog: {
    in: { readonly testRunId: string; readonly fromByte: number; readonly maxBytes: number };
    out: Result<LogChunk, EngineError>;
  };
  transaction: {
    in: { readonly id: string };
    out: {
      readonly record: TransactionRecord;
      readonly phases: readonly TransactionPhaseRecord[];
      readonly paths: readonly string[];
    } | null;
  };
  /** Kept workspace diff of a session that failed; empty when nothing was kept. */
  sessionDiff: { in: { readonly sessionId: string }; out: Result<readonly DiffFile[], EngineError> };
}
export type QueryName = keyof Queries;

export interface NewTask {
  readonly title: string;
  readonly body: string;
  /** Null: the configuration's default scope. */
  readonly readablePaths: readonly string[] | null;
  readonly writablePaths: readonly string[] | null;
  readonly risk: Risk;
  readonly priority: number;
  readonly role: Role;
  readonly agentId: string | null;
  readonly dependsOn: readonly string[];
  readonly expectedTests: readonly (readonly string[])[];
}

/** How the operator's word was given (law 7). */
export type DecisionOrigin = 'tui' | 'cli-typed' | 'noninteractive' | 'scripted';

/** Name → input and value of every command. */
export interface Commands {
  'run.create': {
    in: {
      readonly goal: string;
      readonly scope: readonly string[];
      /** Full ref name or null for the branch that is checked out. */
      readonly targetRef: string | null;
      readonly approveMode: ApproveMode;
      readonly maxIterations: number | null;
      readonly timeoutMs: number | null;
    };
    out: { readonly runId: RunId };
  };
  'run.pause': { in: { readonly runId: string }; out: Record<string, never> };
  'run.drain': { in: { readonly runId: string }; out: Record<string, never> };
  'run.stop': { in: { readonly runId: string }; out: Record<string, never> };
  'run.resume': {
    in: {
      readonly runId: string;
      readonly approveMode?: ApproveMode | undefined;
      readonly maxIterations?: number | null | undefined;
      readonly timeoutMs?: number | null | undefined;
    };
    out: Record<string, never>;
  };
  /** Joins the given run, else the newest live one, else a new one. */
  'task.add': {
    in: { readonly runId: string | null; readonly tasks: readonly NewTask[] };
    out: { readonly runId: RunId; readonly taskIds: readonly TaskId[] };
  };
  /** Task files with YAML front matter; all or none. `dependsOn` may name other files of the same import by their stem. */
  'task.import': {
    in: { readonly runId: string | null; readonly files: readonly { readonly name: string; readonly text: string }[] };
    out: { readonly runId: RunId; readonly taskIds: readonly TaskId[] };
  };
  'task.cancel': { in: { readonly taskId: string; readonly reason: string | null }; out: Record<string, never> };
  /** Opens a proposed task, or closes one whose session succeeded without a change. */
  'task.confirm': { in: { readonly taskId: string }; out: Record<string, never> };
  /** Records the decision for exactly this revision; applies when every gate holds and the configuration says on_approval. */
  'proposal.approve': {
    in: {
      readonly proposalId: string;
      readonly revision: number;
      readonly origin: DecisionOrigin;
      readonly note: string | null;
    };
    out: { readonly applied: boolean; readonly transactionId: TransactionId | null; readonly gates: readonly Gate[] };
  };
  'proposal.reject': {
    in: {
      readonly proposalId: string;
      readonly revision: number;
      readonly origin: DecisionOrigin;
      readonly reason: string;
    };
    out: Record<string, never>;
  };
  /** Sends it back to the agent with the operator's words; a new session starts when attempts are left. */
  'proposal.requestChanges': {
    in: {
      readonly proposalId: string;
      readonly revision: number;
      readonly origin: DecisionOrigin;
      readonly message: string;
    };
    out: Record<string, never>;
  };
  'proposal.apply': {
    in: { readonly proposalId: string; readonly origin: DecisionOrigin };
    out: { readonly transactionId: TransactionId };
  };
  /** Runs the required tests again on the current revision's result tree. */
  'proposal.test': { in: { readonly proposalId: string }; out: { readonly passed: boolean } };
  'transaction.rollback': {
    in: { readonly transactionId: string; readonly origin: DecisionOrigin; readonly reason: string };
    out: { readonly transactionId: TransactionId };
  };
  'session.stop': { in: { readonly sessionId: string }; out: Record<string, never> };
  'agent.enable': { in: { readonly agentId: string }; out: Record<string, never> };
  'agent.disable': {
    in: { readonly agentId: string; readonly how: 'refuse' | 'drain' | 'now' };
    out: Record<string, never>;
  };
}
export type CommandName = keyof Commands;

export interface Engine {
  query<N extends QueryName>(name: N, input: Queries[N]['in']): Promise<Queries[N]['out']>;
  command<N extends CommandName>(
    name: N,
    input: Commands[N]['in'],
    principal: Principal,
  ): Promise<Result<Commands[N]['out'], EngineError>>;
  /** Called after commits with coalesced ranges of event ids; also for commits of other processes. */
  subscribe(listener: (range: { readonly fromId: number; readonly toId: number }) => void): { close(): void };
  /**
   * Stops work and lets go: `drain` lets live sessions finish, `stop` cancels them (their work is exported and kept).
   * A client only detaches. Safe to repeat.
   */
  close(how: 'drain' | 'stop'): Promise<void>;
}

/** How `run`-like commands end: 0 all done, 3 blocked, 4 failed tasks, 5 limit. */
export interface RunOutcome {
  readonly runId: RunId;
  readonly exit: 0 | 1 | 3 | 4 | 5;
  readonly reason: string;
}

/** What `init` did to each path. */
export interface InitReport {
  readonly root: string;
  readonly stateDir: string;
  readonly created: readonly string[];
  readonly kept: readonly string[];
  readonly backedUp: readonly { readonly path: string; readonly backup: string }[];
  /** What was found, e.g. `test command: npm test (package.json)`. */
  readonly detected: readonly string[];
  /** What the operator should do next. */
  readonly next: readonly string[];
}

export interface InitOptions {
  readonly force: boolean;
  readonly refreshGenerated: boolean;
}

/**
 * How a process stands to the engine of a project:
 * `require` owns it or fails with `engine_owned` (run, start); `prefer` owns it when it is free, else is a client (the
 * screen); `brief` owns it for as long as one command lasts, or hands the request to the owner and waits (apply,
 * rollback, approve); `never` only reads and records (lists, watch).
 */
export type Ownership = 'require' | 'prefer' | 'brief' | 'never';

export interface OpenOptions {
  /** The directory of the command, or of `--root`. */
  readonly directory: string;
  readonly ownership: Ownership;
  /** Shown to other processes as what holds the engine, e.g. `roundtable run`. */
  readonly command: string;
}

export interface ConfigReport {
  readonly file: string;
  readonly problems: readonly EngineError[];
  /** Things that are valid and still unwise, e.g. an adapter without an image. */
  readonly warnings: readonly string[];
}

export interface ConfigValue {
  readonly key: string;
  readonly value: unknown;
  readonly origin: 'file' | 'default';
}

export interface ImageBuildReport {
  readonly adapter: string;
  readonly imageId: string;
  readonly sizeBytes: number;
  readonly ms: number;
  /** The configuration file that now names it, or null when the project has no such adapter. */
  readonly writtenTo: string | null;
}

/** Everything the command line can do; built by the composition root and passed in. */
export interface Application {
  init(directory: string, options: InitOptions): Promise<Result<InitReport, EngineError>>;
  open(options: OpenOptions): Promise<Result<Engine, EngineError>>;
  checkConfig(directory: string): Promise<Result<ConfigReport, EngineError>>;
  showConfig(directory: string): Promise<Result<readonly ConfigValue[], EngineError>>;
  buildImage(directory: string, adapter: string, signal: AbortSignal): Promise<Result<ImageBuildReport, EngineError>>;
  /**
   * Drives one run in an owning engine until nothing more can happen without the operator, a limit is reached or the
   * signal fires; then drains. Needs an engine opened with `require` or `prefer`.
   */
  drive(engine: Engine, runId: string, signal: AbortSignal): Promise<RunOutcome>;
  /** `operator.allow_noninteractive` of the project's configuration. */
  allowsNoninteractive(directory: string): Promise<Result<boolean, EngineError>>;
}
