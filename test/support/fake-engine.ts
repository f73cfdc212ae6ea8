import type {
  CommandName,
  Commands,
  DiffFile,
  Engine,
  EngineError,
  EventQuery,
  EventRecord,
  LogChunk,
  Principal,
  ProposalView,
  Queries,
  QueryName,
  Result,
  Snapshot,
} from '../../src/engine/api.ts';
import { engineError, err, ok } from '../../src/engine/api.ts';
import { AT, id, sampleDiff, sampleSnapshot, session, task, transaction } from './sample-snapshot.ts';

export interface SentCommand {
  readonly name: CommandName;
  readonly input: unknown;
  readonly principal: Principal;
}

type CommandResult<N extends CommandName> = Result<Commands[N]['out'], EngineError>;
type Handlers = { [N in CommandName]: (input: Commands[N]['in']) => CommandResult<N> };
type QueryHandlers = { [N in QueryName]: (input: Queries[N]['in']) => Queries[N]['out'] };

/**
 * An engine in memory with the behaviour that a screen can see: commands are checked as the real ones are (stale
 * revisions, gates, final states), change the snapshot, write events and notify. No agents, git or containers.
 */
export class FakeEngine implements Engine {
  snapshot: Snapshot;
  readonly events: EventRecord[] = [];
  readonly sent: SentCommand[] = [];
  readonly closed: ('drain' | 'stop')[] = [];
  readonly diffs = new Map<string, readonly DiffFile[]>();
  readonly queries = new Map<QueryName, number>();
  /** When set, commands wait for it before they answer. */
  gate: Promise<void> | null = null;
  /** When set, queries throw it. */
  broken: Error | null = null;
  readonly #logs = new Map<string, { stdout: string; stderr: string }>();
  readonly #listeners = new Set<(range: { readonly fromId: number; readonly toId: number }) => void>();

  constructor(snapshot: Snapshot = sampleSnapshot()) {
    this.snapshot = snapshot;
    for (const proposal of snapshot.proposals) this.diffs.set(proposal.id, sampleDiff());
  }

  async query<N extends QueryName>(name: N, input: Queries[N]['in']): Promise<Queries[N]['out']> {
    await Promise.resolve();
    if (this.broken !== null) throw this.broken;
    this.queries.set(name, (this.queries.get(name) ?? 0) + 1);
    return this.#queryHandlers[name](input);
  }

  async command<N extends CommandName>(
    name: N,
    input: Commands[N]['in'],
    principal: Principal,
  ): Promise<CommandResult<N>> {
    this.sent.push({ name, input, principal });
    await this.gate;
    return this.#handlers[name](input);
  }

  subscribe(listener: (range: { readonly fromId: number; readonly toId: number }) => void): { close(): void } {
    this.#listeners.add(listener);
    return { close: () => void this.#listeners.delete(listener) };
  }

  async close(how: 'drain' | 'stop'): Promise<void> {
    this.closed.push(how);
    this.#listeners.clear();
    await Promise.resolve();
  }

  /** Changes the snapshot and writes one event about it, as a commit of the real engine does. */
  change(type: string, entity: string, entityId: string, over: Partial<Snapshot> = {}, notify = true): void {
    const last = this.events.length + 1;
    this.events.push({
      id: last,
      at: AT,
      type,
      principal: 'coordinator',
      entity,
      entityId,
      runId: id.run('R-3'),
      data: {},
      digest: String(last).padStart(64, '0'),
    });
    this.snapshot = { ...this.snapshot, ...over, lastEventId: last };
    if (notify) for (const listener of this.#listeners) listener({ fromId: last, toId: last });
  }

  updateProposal(proposalId: string, over: Partial<ProposalView>, type = 'proposal.changed'): void {
    const proposals = this.snapshot.proposals.map((item) => (item.id === proposalId ? { ...item, ...over } : item));
    this.change(type, 'proposal', proposalId, { proposals });
  }

  appendLog(sessionId: string, stream: 'stdout' | 'stderr', text: string): void {
    const log = this.#logs.get(sessionId) ?? { stdout: '', stderr: '' };
    log[stream] += text;
    this.#logs.set(sessionId, log);
  }

  readonly #queryHandlers: QueryHandlers = {
    snapshot: () => this.snapshot,
    events: (input) => this.#selectEvents(input),
    diff: ({ proposalId }) => {
      const files = this.diffs.get(proposalId);
      return files === undefined ? err(missing(proposalId)) : ok(files);
    },
    sessionLog: ({ sessionId, stream, fromByte, maxBytes }) => {
      const known = this.snapshot.sessions.find((item) => item.id === sessionId);
      if (known === undefined) return err(missing(sessionId));
      return ok(chunkOf(this.#logs.get(sessionId)?.[stream] ?? '', fromByte, maxBytes, known.endedAt !== null));
    },
    testLog: ({ testRunId }) => err(missing(testRunId)),
    transaction: ({ id: wanted }) => {
      const record = this.snapshot.transactions.find((item) => item.id === wanted);
      if (record === undefined) return null;
      const phases = ['prepared', 'verified', 'applying', 'applied'].map((phase, index) => ({
        transactionId: record.id,
        sequence: index + 1,
        phase,
        startedAt: AT,
        endedAt: '2026-03-04T12:00:00.012Z',
        outcome: 'ok' as const,
        detail: null,
      }));
      return { record, phases, paths: ['src/page.ts', 'docs/pages.md'] };
    },
    sessionDiff: () => ok([]),
  };

  readonly #handlers: Handlers = {
    'run.create': () => ok({ runId: id.run('R-4') }),
    'run.pause': () => ok({}),
    'run.drain': () => ok({}),
    'run.stop': () => ok({}),
    'run.resume': () => ok({}),
    'task.add': ({ tasks }) => {
      const made = tasks.map((item, index) =>
        task(`T-${this.snapshot.tasks.length + 7 + index}`, {
          title: item.title,
          body: item.body,
          writablePaths: item.writablePaths ?? ['.'],
        }),
      );
      this.change('task.added', 'task', made[0]?.id ?? '', { tasks: [...this.snapshot.tasks, ...made] });
      return ok({ runId: id.run('R-3'), taskIds: made.map((item) => item.id) });
    },
    'task.import': () => err(engineError('invalid_argument', 'no files', 'name some')),
    'task.cancel': ({ taskId }) => this.#moveTask(taskId, 'cancelled'),
    'task.confirm': ({ taskId }) => this.#moveTask(taskId, 'open'),
    'proposal.approve': ({ proposalId, revision }) => {
      const found = this.#decidable(proposalId, revision);
      if (!found.ok) return found;
      const proposal = found.value;
      const gates = proposal.gates.map((item) =>
        item.id === 'human' ? { ...item, status: 'passed' as const, detail: 'approved by operator', remedy: '' } : item,
      );
      if (gates.some((item) => item.status === 'failed')) {
        return err(
          engineError('gates_not_passed', `not every gate of ${proposalId} holds`, 'mend the failed gates first'),
        );
      }
      this.#settle(proposalId);
      if (gates.some((item) => item.status === 'pending')) {
        this.updateProposal(proposalId, { gates }, 'proposal.approved');
        return ok({ applied: false, transactionId: null, gates });
      }
      const made = transaction(`TX-${this.snapshot.transactions.length + 5}`, { proposalId: proposal.id, revision });
      this.snapshot = { ...this.snapshot, transactions: [...this.snapshot.transactions, made] };
      this.updateProposal(proposalId, { gates, status: 'accepted' }, 'transaction.applied');
      return ok({ applied: true, transactionId: made.id, gates });
    },
    'proposal.reject': ({ proposalId, revision, reason }) => {
      const found = this.#decidable(proposalId, revision);
      if (!found.ok) return found;
      this.#settle(proposalId);
      this.updateProposal(proposalId, { status: 'rejected', statusReason: reason }, 'proposal.rejected');
      return ok({});
    },
    'proposal.requestChanges': ({ proposalId, revision, message }) => {
      const found = this.#decidable(proposalId, revision);
      if (!found.ok) return found;
      this.#settle(proposalId);
      this.updateProposal(
        proposalId,
        { status: 'revision_requested', statusReason: message },
        'proposal.revision_requested',
      );
      return ok({});
    },
    'proposal.apply': ({ proposalId }) => err(missing(proposalId)),
    'proposal.test': () => ok({ passed: true }),
    'transaction.rollback': ({ transactionId }) => {
      const found = this.snapshot.transactions.find((item) => item.id === transactionId);
      if (found === undefined) return err(missing(transactionId));
      if (found.status !== 'applied') {
        return err(
          engineError('illegal_transition', `${transactionId} is ${found.status}`, 'only applied ones are rolled back'),
        );
      }
      const made = transaction(`TX-${this.snapshot.transactions.length + 5}`, {
        kind: 'rollback',
        revertsId: found.id,
      });
      const transactions = this.snapshot.transactions.map((item) =>
        item === found ? { ...item, status: 'reverted' as const } : item,
      );
      this.change('transaction.reverted', 'transaction', transactionId, { transactions: [...transactions, made] });
      return ok({ transactionId: made.id });
    },
    'session.stop': ({ sessionId }) => {
      const sessions = this.snapshot.sessions.map((item) =>
        item.id === sessionId ? session(sessionId, { ...item, status: 'cancelled', endedAt: AT }) : item,
      );
      this.change('session.cancelled', 'session', sessionId, { sessions });
      return ok({});
    },
    'agent.enable': () => ok({}),
    'agent.disable': () => ok({}),
  };

  #moveTask(taskId: string, status: 'open' | 'cancelled'): Result<Record<string, never>, EngineError> {
    const tasks = this.snapshot.tasks.map((item) => (item.id === taskId ? { ...item, status } : item));
    this.change(`task.${status}`, 'task', taskId, { tasks });
    return ok({});
  }

  #decidable(proposalId: string, revision: number): Result<ProposalView, EngineError> {
    const proposal = this.snapshot.proposals.find((item) => item.id === proposalId);
    if (proposal === undefined) return err(missing(proposalId));
    if (proposal.currentRevision !== revision) {
      return err(
        engineError('revision_stale', `${proposalId} is at r${proposal.currentRevision}`, 'look at the new revision'),
      );
    }
    if (['accepted', 'rejected', 'withdrawn', 'reverted'].includes(proposal.status)) {
      return err(engineError('illegal_transition', `${proposalId} is ${proposal.status}`, 'it is final'));
    }
    return ok(proposal);
  }

  #settle(entityId: string): void {
    this.snapshot = { ...this.snapshot, attention: this.snapshot.attention.filter((item) => item.id !== entityId) };
  }

  #selectEvents(query: EventQuery): readonly EventRecord[] {
    const matching = this.events.filter(
      (event) =>
        event.id > (query.afterId ?? 0) &&
        (query.runId === undefined || event.runId === query.runId) &&
        (query.type === undefined || event.type === query.type) &&
        (query.entity === undefined || event.entity === query.entity) &&
        (query.entityId === undefined || event.entityId === query.entityId),
    );
    return query.newest === true ? matching.slice(-query.limit) : matching.slice(0, query.limit);
  }
}

function missing(what: string): EngineError {
  return engineError('not_found', `there is no ${what}`, 'look at the list');
}

/** The log as bytes, like a file: a chunk ends before a character that doesn't fit whole. */
function chunkOf(text: string, fromByte: number, maxBytes: number, over: boolean): LogChunk {
  const bytes = Buffer.from(text);
  let end = Math.min(bytes.length, fromByte + maxBytes);
  while (end > fromByte && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return {
    text: bytes.subarray(fromByte, end).toString(),
    nextByte: Math.max(fromByte, end),
    ended: over && end >= bytes.length,
    truncated: false,
  };
}
