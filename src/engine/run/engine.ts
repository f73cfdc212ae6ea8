import type { Commands, Engine, EngineState, Queries, Snapshot } from '../api.ts';
import { addTasks } from '../app/add-tasks.ts';
import type { BaseStates } from '../app/base-states.ts';
import { createRun } from '../app/create-run.ts';
import { approveProposal, rejectProposal, requestChanges } from '../app/decide-proposal.ts';
import { type DecisionDeps, fromRepository, notFound } from '../app/deps.ts';
import { cancelTask, confirmTask } from '../app/end-task.ts';
import { takeSnapshot } from '../app/snapshot.ts';
import { drainRun, pauseRun, resumeRun } from '../app/steer-run.ts';
import { disableAgent, enableAgent } from '../app/switch-agent.ts';
import { type EngineError, engineError } from '../domain/errors.ts';
import type { Gate } from '../domain/gate.ts';
import type { ObjectId, ProposalId, SessionId, TestRunId, TransactionId } from '../domain/ids.ts';
import { isTerminal } from '../domain/lifecycle.ts';
import type { Principal } from '../domain/principal.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { DiffFile } from '../ports/private-repository.ts';
import type { SessionFiles } from '../ports/session-files.ts';
import { askOwner } from './ask-owner.ts';
import type { EngineOwner } from './engine-owner.ts';

export interface EngineParts {
  readonly deps: DecisionDeps;
  readonly bases: BaseStates;
  readonly files: SessionFiles;
  /** Null in a client. */
  readonly owner: EngineOwner | null;
  readonly project: { readonly name: string; readonly root: string };
  readonly engineState: () => EngineState;
  /** Parses task files; positions are in the errors. */
  readonly parseTaskFile: (
    name: string,
    text: string,
  ) => Result<Parameters<typeof addTasks>[1]['drafts'][number], EngineError>;
  readonly lifetime: AbortSignal;
  readonly close: (how: 'drain' | 'stop') => Promise<void>;
}

const DIFF_BOUNDS = { contextLines: 3, maxLinesPerFile: 20_000, detectRenames: true } as const;

/** The one object that screen, command line and MCP know: queries and commands by name. */
export function createEngine(parts: EngineParts): Engine {
  const queries = createQueries(parts);
  const commands = createCommands(parts);
  return {
    query: (name, input) => queries[name](input),
    async command(name, input, principal) {
      const result = await commands[name](input, principal);
      parts.owner?.wake();
      return result;
    },
    subscribe: (listener) => parts.deps.store.subscribe(listener),
    close: parts.close,
  };
}

type QueryTable = { [N in keyof Queries]: (input: Queries[N]['in']) => Promise<Queries[N]['out']> };
type CommandTable = {
  [N in keyof Commands]: (input: Commands[N]['in'], by: Principal) => Promise<Result<Commands[N]['out'], EngineError>>;
};

function createQueries({ deps, bases, files, project, engineState, lifetime }: EngineParts): QueryTable {
  return {
    async snapshot(): Promise<Snapshot> {
      const [head, states] = await Promise.all([deps.git.head(lifetime), bases.ofOpenProposals(lifetime)]);
      const at = head.ok ? head.value : null;
      const branch = at?.ref.startsWith('refs/heads/') ? at.ref.slice('refs/heads/'.length) : null;
      return takeSnapshot(deps, {
        project: { ...project, branch, head: at?.commit ?? null },
        engine: engineState(),
        bases: states,
      });
    },
    async events(input) {
      return deps.store.read((rows) => rows.events.list({ ...input, runId: input.runId as never }));
    },
    async diff({ proposalId, revision, contextLines }) {
      const row = deps.store.read((rows) => {
        const proposal = rows.proposals.get(proposalId as ProposalId);
        return proposal && rows.proposals.revision(proposal.id, revision ?? proposal.currentRevision);
      });
      if (!row)
        return err(notFound('proposal', revision === undefined ? proposalId : `${proposalId} revision ${revision}`));
      return readDiff(deps, row.baseTree, row.resultTree, contextLines ?? DIFF_BOUNDS.contextLines, lifetime);
    },
    async sessionLog({ sessionId, stream, fromByte, maxBytes }) {
      const session = deps.store.read((rows) => rows.sessions.get(sessionId as SessionId));
      if (!session) return err(notFound('session', sessionId));
      const over = isTerminal('session', session.status);
      const truncated = stream === 'stdout' ? session.stdoutTruncated : session.stderrTruncated;
      return logChunk(files, sessionId, stream, fromByte, maxBytes, over, truncated);
    },
    async testLog({ testRunId, fromByte, maxBytes }) {
      const run = deps.store.read((rows) => rows.testRuns.get(testRunId as TestRunId));
      if (!run) return err(notFound('test', testRunId));
      const out = await files.readLog(testRunId, 'stdout', 0, maxBytes + fromByte);
      const error = await files.readLog(testRunId, 'stderr', 0, maxBytes + fromByte);
      const text = [out?.text ?? '', error?.text ?? ''].filter((part) => part !== '').join('\n');
      const bytes = Buffer.from(text).subarray(fromByte, fromByte + maxBytes);
      return ok({
        text: bytes.toString('utf8'),
        nextByte: fromByte + bytes.length,
        ended: run.status !== 'running' && bytes.length < maxBytes,
        truncated: run.logTruncated,
      });
    },
    async transaction({ id }) {
      return deps.store.read((rows) => {
        const record = rows.transactions.get(id as TransactionId);
        const revision = record && rows.proposals.revision(record.proposalId, record.revision);
        return (
          record && {
            record,
            phases: rows.transactions.phases(record.id),
            paths: revision?.changes.map((change) => change.path) ?? [],
          }
        );
      });
    },
    async sessionDiff({ sessionId }) {
      const kept = (await files.readNote(sessionId, 'kept')) as {
        readonly baseTree: ObjectId;
        readonly resultTree: ObjectId;
      } | null;
      if (kept === null) return ok([]);
      return readDiff(deps, kept.baseTree, kept.resultTree, DIFF_BOUNDS.contextLines, lifetime);
    },
  };
}

async function readDiff(
  deps: DecisionDeps,
  from: ObjectId,
  to: ObjectId,
  contextLines: number,
  signal: AbortSignal,
): Promise<Result<readonly DiffFile[], EngineError>> {
  const diff = await deps.revisions.diff(from, to, { ...DIFF_BOUNDS, contextLines }, signal);
  return diff.ok ? diff : err(fromRepository(diff.error));
}

async function logChunk(
  files: SessionFiles,
  id: string,
  stream: 'stdout' | 'stderr',
  fromByte: number,
  maxBytes: number,
  over: boolean,
  truncated: boolean,
): ReturnType<QueryTable['sessionLog']> {
  const part = await files.readLog(id, stream, fromByte, maxBytes);
  if (part === null) return ok({ text: '', nextByte: fromByte, ended: over, truncated: false });
  return ok({ text: part.text, nextByte: part.nextByte, ended: over && part.nextByte >= part.size, truncated });
}

function createCommands(parts: EngineParts): CommandTable {
  const { deps, bases, owner, lifetime } = parts;
  const ask = (kind: Parameters<typeof askOwner>[1]['kind'], payload: Record<string, unknown>, by: Principal) =>
    askOwner(deps, {
      kind,
      payload,
      by,
      owned: () => owner !== null || parts.engineState().owner !== null,
      wake: () => owner?.wake(),
      signal: lifetime,
    });
  const stopSession = async (sessionId: string, by: Principal): Promise<Result<Record<string, never>, EngineError>> => {
    const session = deps.store.read((rows) => rows.sessions.get(sessionId as SessionId));
    if (!session) return err(notFound('session', sessionId));
    if (isTerminal('session', session.status))
      return err(
        engineError(
          'illegal_transition',
          `session ${sessionId} has ended (${session.status})`,
          'nothing is left to stop',
        ),
      );
    const asked = await ask('session.stop', { id: sessionId }, by);
    return asked.ok ? ok({}) : asked;
  };

  return {
    'run.create': (input, by) => onlyOperator(by, () => createRun(deps, input, by, lifetime)),
    'run.pause': (input, by) => onlyOperator(by, () => pauseRun(deps, input.runId, by)),
    'run.drain': (input, by) => onlyOperator(by, () => drainRun(deps, input.runId, by)),
    'run.resume': (input, by) => onlyOperator(by, () => resumeRun(deps, input.runId, input, by)),
    'run.stop': (input, by) =>
      onlyOperator(by, async () => {
        const drained = await drainRun(deps, input.runId, by, 'stopped by the operator');
        if (!drained.ok) return drained;
        const live = deps.store.read((rows) => rows.sessions.live().some((session) => session.runId === input.runId));
        if (!live) return drained;
        const stopped = await ask('run.drain', { id: input.runId }, by);
        return stopped.ok ? ok({}) : stopped;
      }),
    'task.add': (input, by) =>
      addTasks(deps, { runId: input.runId, drafts: input.tasks.map((task) => ({ ...task, key: null })) }, by, lifetime),
    'task.import': async (input, by) => {
      const drafts = [];
      for (const file of input.files) {
        const parsed = parts.parseTaskFile(file.name, file.text);
        if (!parsed.ok) return parsed;
        drafts.push(parsed.value);
      }
      return addTasks(deps, { runId: input.runId, drafts }, by, lifetime);
    },
    'task.cancel': (input, by) =>
      onlyOperator(by, async () => {
        const cancelled = await cancelTask(deps, input.taskId, input.reason, by);
        if (!cancelled.ok) return cancelled;
        const live = deps.store.read((rows) =>
          rows.sessions.live().filter((session) => session.taskId === input.taskId),
        );
        for (const session of live) await stopSession(session.id, by);
        return cancelled;
      }),
    'task.confirm': (input, by) => onlyOperator(by, () => confirmTask(deps, input.taskId, by)),
    'proposal.approve': (input, by) =>
      onlyOperator(by, async () => {
        const approved = await approveProposal(deps, bases, input, by, lifetime);
        if (!approved.ok) return approved;
        if (deps.settings.current().applyMode === 'manual')
          return ok({ applied: false, transactionId: null, gates: approved.value.gates });
        const applied = await ask('proposal.apply', { id: input.proposalId, strict: false }, by);
        // The approval stands; without an engine it lands when one runs.
        if (!applied.ok && applied.error.code === 'engine_not_running')
          return ok({ applied: false, transactionId: null, gates: approved.value.gates });
        return applied.ok ? ok(applyAnswer(applied.value, approved.value.gates)) : applied;
      }),
    'proposal.reject': (input, by) => onlyOperator(by, () => rejectProposal(deps, input, by)),
    'proposal.requestChanges': (input, by) => onlyOperator(by, () => requestChanges(deps, input, by)),
    'proposal.apply': (input, by) =>
      onlyOperator(by, async () => {
        const proposal = deps.store.read((rows) => rows.proposals.get(input.proposalId as ProposalId));
        if (!proposal) return err(notFound('proposal', input.proposalId));
        const applied = await ask('proposal.apply', { id: input.proposalId, strict: true }, by);
        if (!applied.ok) return applied;
        const answer = applyAnswer(applied.value, []);
        if (answer.transactionId !== null) return ok({ transactionId: answer.transactionId });
        return err(
          engineError(
            'illegal_transition',
            `${proposal.id} is ${proposal.status}; there is nothing to apply`,
            'see `roundtable proposals list`',
          ),
        );
      }),
    'proposal.test': async (input, by) => {
      const tested = await ask('proposal.test', { id: input.proposalId }, by);
      return tested.ok ? ok({ passed: tested.value.passed === true }) : tested;
    },
    'transaction.rollback': (input, by) =>
      onlyOperator(by, async () => {
        const reverted = await ask('transaction.rollback', { id: input.transactionId, reason: input.reason }, by);
        return reverted.ok ? ok({ transactionId: String(reverted.value.transactionId) as TransactionId }) : reverted;
      }),
    'session.stop': (input, by) => onlyOperator(by, () => stopSession(input.sessionId, by)),
    'agent.enable': (input, by) => onlyOperator(by, () => enableAgent(deps, input.agentId, by)),
    'agent.disable': (input, by) =>
      onlyOperator(by, async () => {
        const disabled = await disableAgent(deps, input.agentId, input.how, by);
        if (!disabled.ok) return disabled;
        for (const session of disabled.value.stop) await stopSession(session, by);
        return ok({});
      }),
  };
}

function applyAnswer(
  value: Readonly<Record<string, unknown>>,
  gates: readonly Gate[],
): { readonly applied: boolean; readonly transactionId: TransactionId | null; readonly gates: readonly Gate[] } {
  return {
    applied: value.applied === true,
    transactionId: typeof value.transactionId === 'string' ? (value.transactionId as TransactionId) : null,
    gates: Array.isArray(value.gates) ? (value.gates as Gate[]) : gates,
  };
}

/** Decisions of a human and steering are the operator's alone (law 7). */
async function onlyOperator<T>(
  by: Principal,
  command: () => Promise<Result<T, EngineError>>,
): Promise<Result<T, EngineError>> {
  if (by === 'operator') return command();
  return err(
    engineError(
      'not_permitted',
      `${by} may not decide this`,
      'only the operator can, on the screen or the command line',
    ),
  );
}
