import { setMaxListeners } from 'node:events';
import type { BaseStates } from '../app/base-states.ts';
import { decide, record } from '../app/deps.ts';
import { settledProposal } from '../app/end-task.ts';
import { mustMove } from '../app/moves.ts';
import type { EngineError } from '../domain/errors.ts';
import type { BaseState } from '../domain/gates.ts';
import type { ProposalId, TestRunId } from '../domain/ids.ts';
import type { Repositories } from '../ports/store.ts';
import { type Advancer, createAdvancer } from './advance-proposal.ts';
import { createDependencies } from './dependencies.ts';
import type { WorkDeps } from './deps.ts';
import { createDispatcher, type Dispatcher } from './dispatcher.ts';
import { carryOut } from './owner-requests.ts';
import { createProposalTests } from './proposal-tests.ts';
import { reconcile } from './reconcile.ts';
import { fromRuntime } from './resolve-adapter.ts';
import { restRuns } from './rest-runs.ts';
import { keepClaims } from './task-claims.ts';
import type { Transactions } from './transactions.ts';

export interface EngineOwner {
  /** Recovers transactions and clears what a killed process left; then works until `close`. */
  start(): Promise<void>;
  /** Something changed: look again soon. */
  wake(): void;
  /** The container engine's problem that keeps work from starting, or null. */
  containerProblem(): EngineError | null;
  /** Asks the container engine now. */
  probeContainers(): Promise<EngineError | null>;
  liveSessions(): readonly string[];
  /** Ends the sessions of a run and waits for them. */
  stopRun(runId: string): Promise<void>;
  close(how: 'drain' | 'stop'): Promise<void>;
}

export interface OwnerOptions {
  readonly deps: WorkDeps;
  readonly bases: BaseStates;
  readonly transactions: Transactions;
  readonly digest: (text: string) => string;
  /** False: only carries out requests (one command without a running engine). */
  readonly schedules: boolean;
}

const TICK_MS = 1_000;
const RECONCILE_MS = 60_000;

/** The loop of the engine owner: requests, proposals, sessions, runs, claims, in this order, one tick at a time. */
export function createEngineOwner({ deps, bases, transactions, digest, schedules }: OwnerOptions): EngineOwner {
  const dependencies = createDependencies(deps, digest);
  const dispatcher: Dispatcher = createDispatcher(deps, dependencies, () => wake());
  const advancer: Advancer = createAdvancer(deps, bases, dependencies, transactions);
  const tests = createProposalTests(deps, dependencies);
  /** Ends what may be ended early (tests, preparations); transactions go on to their end. */
  const stopping = new AbortController();
  const work = AbortSignal.any([deps.lifetime, stopping.signal]);
  setMaxListeners(0, work);
  const background = new Set<Promise<unknown>>();
  let problem: EngineError | null = null;
  let ticking: Promise<void> | null = null;
  let again = false;
  let accepting = true;
  let timer: NodeJS.Timeout | null = null;
  let lastReconcile = 0;
  /** What was last looked at of each proposal: without news it is not looked at again. */
  const rested = new Map<string, string>();

  function wake(): void {
    if (ticking !== null) again = true;
    else ticking = run();
  }

  async function run(): Promise<void> {
    do {
      again = false;
      await tick().catch((bug: unknown) =>
        deps.warn(`the engine's tick broke: ${bug instanceof Error ? (bug.stack ?? bug.message) : String(bug)}`),
      );
    } while (again && !deps.lifetime.aborted);
    ticking = null;
  }

  async function tick(): Promise<void> {
    if (deps.lifetime.aborted) return;
    takeRequests();
    if (!schedules || !accepting) return;
    await record(deps.store, (scope) => keepClaims(deps, scope));
    const states = await bases.ofOpenProposals(deps.lifetime);
    advanceProposals(states);
    await restRuns(deps, states, advancer.busy);
    stopOverdue();
    problem = (await dispatcher.dispatch()).engineProblem;
    if (deps.clock.monotonicMs() - lastReconcile > RECONCILE_MS) {
      lastReconcile = deps.clock.monotonicMs();
      keep(reconcile(deps, ours, false));
      // What another git kept from being recovered at the start may be free by now; nothing is applied before.
      if (deps.store.read((rows) => rows.transactions.open().length > 0)) keep(transactions.recover(deps.lifetime));
    }
  }

  function takeRequests(): void {
    for (const request of deps.store.read((rows) => rows.requests.pending())) {
      keep(carryOut({ deps, advancer, dispatcher, transactions, tests, stop: work }, request).finally(wake));
    }
  }

  function advanceProposals(states: ReadonlyMap<string, BaseState>): void {
    for (const { id, news } of deps.store.read((rows) => openProposals(rows))) {
      const seen = `${news}/${JSON.stringify(states.get(id) ?? null)}/${deps.settings.current().applyMode}`;
      if (rested.get(id) === seen || advancer.busy(id)) continue;
      rested.set(id, seen);
      keep(
        advancer.advance(id, { asked: false, stop: work }).then((advanced) => {
          if (!advanced.ok && !work.aborted) deps.warn(`${id} could not be advanced: ${advanced.error.message}`);
          wake();
        }),
      );
    }
  }

  function stopOverdue(): void {
    for (const row of deps.store.read((rows) => rows.runs.live())) {
      if (row.deadlineAt !== null && Date.parse(row.deadlineAt) <= deps.clock.nowMs())
        dispatcher.stopAll('limit', row.id);
    }
  }

  /** What is under way here: a session, a preparation, or a test whose row says that it runs. */
  function ours(ownerId: string): boolean {
    if (dispatcher.live().includes(ownerId) || dependencies.live().includes(ownerId)) return true;
    return deps.store.read((rows) => rows.testRuns.get(ownerId as TestRunId)?.status === 'running');
  }

  function keep(work: Promise<unknown>): void {
    const kept = work
      .catch((bug: unknown) =>
        deps.warn(`background work broke: ${bug instanceof Error ? (bug.stack ?? bug.message) : String(bug)}`),
      )
      .finally(() => background.delete(kept));
    background.add(kept);
  }

  return {
    async start() {
      await transactions.recover(deps.lifetime);
      await reconcile(deps, () => false, true);
      lastReconcile = deps.clock.monotonicMs();
      await closeStrayProposals();
      timer = setInterval(wake, TICK_MS);
      wake();
    },
    wake,
    containerProblem: () => problem,
    async probeContainers() {
      const info = await deps.runtime.info(deps.lifetime);
      problem = info.ok ? null : fromRuntime(info.error);
      return problem;
    },
    liveSessions: () => dispatcher.live(),
    async stopRun(runId) {
      dispatcher.stopAll('engine', runId);
      await dispatcher.idle(runId);
    },
    async close(how) {
      accepting = false;
      dispatcher.close(how === 'stop' ? 'engine' : null);
      if (how === 'stop') stopping.abort();
      // A tick under way may still start a session or a test, so each is looked at again until all rest.
      while (background.size > 0 || ticking !== null || dispatcher.live().length > 0) {
        await Promise.all([dispatcher.idle(), ticking, ...background]);
      }
      if (timer) clearInterval(timer);
    },
  };

  /** A proposal left in `applying` has a transaction that recovery has closed; without one it goes back. */
  async function closeStrayProposals(): Promise<void> {
    await decide(deps.store, (scope) => {
      const open = new Set<string>(scope.transactions.open().map((transaction) => transaction.proposalId));
      for (const row of scope.proposals.all()) {
        if (row.status !== 'applying' || open.has(row.id)) continue;
        mustMove(scope, 'proposal', row, deps.clock.now(), {
          to: 'approved',
          by: 'system',
          reason: 'the engine ended before it was applied',
        });
      }
    });
  }
}

/** Proposals that machines may move, each with a text that changes when something about it has. */
function openProposals(rows: Repositories): readonly { readonly id: ProposalId; readonly news: string }[] {
  return rows.runs
    .all()
    .filter((run) => run.status !== 'failed')
    .flatMap((run) => rows.proposals.ofRun(run.id))
    .filter(
      (proposal) =>
        !settledProposal(proposal.status) && proposal.status !== 'revision_requested' && proposal.status !== 'draft',
    )
    .map((proposal) => {
      const last = rows.events.list({ entity: 'proposal', entityId: proposal.id, limit: 1, newest: true })[0]?.id ?? 0;
      const tests = rows.testRuns
        .ofRevision(proposal.id, proposal.currentRevision)
        .map((run) => `${run.id}${run.status}`);
      const mode = rows.runs.get(proposal.runId)?.approveMode;
      return { id: proposal.id, news: `${last}/${proposal.status}/${mode}/${tests.join()}` };
    });
}
