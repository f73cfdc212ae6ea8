/** Branded ids: a task id can't be passed where a run id is meant. Text form `<PREFIX>-<n>`, n counted per project from 1. */
declare const brand: unique symbol;
type Id<Name extends string> = string & { readonly [brand]: Name };

export type RunId = Id<'run'>;
export type TaskId = Id<'task'>;
export type AgentId = Id<'agent'>;
export type SessionId = Id<'session'>;
export type ClaimId = Id<'claim'>;
export type ProposalId = Id<'proposal'>;
export type TransactionId = Id<'transaction'>;
export type TestRunId = Id<'test-run'>;
export type ApprovalId = Id<'approval'>;
export type RequestId = Id<'request'>;

/** Prefix of every counted id; agents are named by the configuration and have none. */
export const ID_PREFIX = {
  run: 'R',
  task: 'T',
  session: 'S',
  claim: 'C',
  proposal: 'P',
  transaction: 'TX',
  testRun: 'TR',
  approval: 'A',
  request: 'Q',
} as const satisfies Record<string, string>;

export type CountedEntity = keyof typeof ID_PREFIX;

/** Lower-case git object id (40 or 64 hex digits). */
export type ObjectId = Id<'object'>;
