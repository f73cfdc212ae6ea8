import { decide } from '../app/deps.ts';
import { type EngineError, engineError } from '../domain/errors.ts';
import { allPassed } from '../domain/gates.ts';
import type { ProposalId, RequestId } from '../domain/ids.ts';
import type { RequestRecord } from '../domain/records.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { Advancer } from './advance-proposal.ts';
import type { WorkDeps } from './deps.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { ProposalTests } from './proposal-tests.ts';
import type { Transactions } from './transactions.ts';

export interface RequestHandlers {
  readonly deps: WorkDeps;
  readonly advancer: Advancer;
  readonly dispatcher: Dispatcher;
  readonly transactions: Transactions;
  readonly tests: ProposalTests;
  /** Ends tests that a request is waiting for. */
  readonly stop: AbortSignal;
}

/** Carries out one recorded request and records what came of it. */
export async function carryOut(handlers: RequestHandlers, request: RequestRecord): Promise<void> {
  const { deps } = handlers;
  const taken = await decide(deps.store, (scope) => {
    const row = scope.requests.get(request.id as RequestId);
    if (row?.status !== 'pending') return false;
    scope.requests.update({ ...row, status: 'running' });
    return true;
  });
  if (!taken.ok || !taken.value) return;
  const outcome = await handle(handlers, request).catch(
    (bug: unknown): Result<Record<string, unknown>, EngineError> => {
      deps.warn(`request ${request.id} broke: ${bug instanceof Error ? (bug.stack ?? bug.message) : String(bug)}`);
      return err(
        engineError(
          'storage_failed',
          bug instanceof Error ? bug.message : String(bug),
          'run again with ROUNDTABLE_DEBUG=1',
        ),
      );
    },
  );
  const written = await decide(deps.store, (scope) => {
    const row = scope.requests.get(request.id as RequestId);
    if (!row) return;
    scope.requests.update({
      ...row,
      status: outcome.ok ? 'done' : 'failed',
      result: outcome.ok ? outcome.value : { ...outcome.error },
      endedAt: deps.clock.now(),
    });
  });
  if (!written.ok) deps.warn(`the outcome of request ${request.id} could not be recorded: ${written.error.message}`);
}

async function handle(
  { deps, advancer, dispatcher, transactions, tests, stop }: RequestHandlers,
  request: RequestRecord,
): Promise<Result<Record<string, unknown>, EngineError>> {
  const id = String(request.payload.id ?? '');
  switch (request.kind) {
    case 'proposal.apply':
      return applyRequest(deps, advancer, id as ProposalId, request.payload.strict === true, stop);
    case 'transaction.rollback': {
      const reverted = await transactions.rollback(id, String(request.payload.reason ?? ''), deps.lifetime);
      return reverted.ok ? ok({ transactionId: reverted.value }) : reverted;
    }
    case 'proposal.test': {
      const ran = await tests.runAgain(id as ProposalId, stop);
      return ran.ok ? ok({ passed: ran.value }) : ran;
    }
    case 'session.stop':
      if (dispatcher.stop(id, 'operator')) return ok({});
      return err(engineError('not_found', `session ${id} doesn't run here`, 'see `roundtable sessions list`'));
    case 'run.drain':
      dispatcher.stopAll('operator', id);
      return ok({});
    default: {
      const never: never = request.kind;
      throw new Error(`unknown request ${String(never)}`);
    }
  }
}

/** `strict`: gates that don't hold are a refusal (`apply`); otherwise they are the answer (`approve`). */
async function applyRequest(
  deps: WorkDeps,
  advancer: Advancer,
  id: ProposalId,
  strict: boolean,
  stop: AbortSignal,
): Promise<Result<Record<string, unknown>, EngineError>> {
  const advanced = await advancer.advance(id, { asked: true, stop });
  if (!advanced.ok) return advanced;
  const { gates, refusal } = advanced.value;
  if (refusal) return err({ ...refusal, details: { ...refusal.details, gates } });
  // It may have landed by the engine's own look a moment before this one.
  const landed = deps.store.read((rows) => {
    if (rows.proposals.get(id)?.status !== 'accepted') return null;
    return rows.transactions.ofProposal(id).findLast((transaction) => transaction.status === 'applied')?.id ?? null;
  });
  if (strict && landed === null && !allPassed(gates)) {
    const open = gates.filter((gate) => gate.status !== 'passed' && gate.status !== 'overridden');
    return err(
      engineError(
        'gates_not_passed',
        open.map((gate) => `${gate.id}: ${gate.detail}`).join('; '),
        open[0]?.remedy ?? '',
        { gates },
      ),
    );
  }
  return ok({ applied: landed !== null, transactionId: landed, gates });
}
