import type { TransactionId } from '../../domain/ids.ts';
import type { TransactionPhaseRecord, TransactionRecord } from '../../domain/records.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Store, WriteScope } from '../../ports/store.ts';
import type { TransactionJournal } from '../../ports/transaction-journal.ts';

/** The journal as rows of the project's database. */
export function createStoreJournal(store: Store, clock: Clock): TransactionJournal {
  const get = (id: TransactionId) => store.read((repositories) => repositories.transactions.get(id));
  const phases = (id: TransactionId) => store.read((repositories) => repositories.transactions.phases(id));
  return {
    prepare: (record, begin) =>
      store.write('full', (scope) => {
        scope.transactions.insert(record);
        begin(scope);
      }),
    reprepare: (record) => store.write('full', (scope) => scope.transactions.update(record)),
    verified: (id) => store.write('normal', (scope) => move(scope, id, { status: 'verified' })),
    applying: (id) => store.write('full', (scope) => move(scope, id, { status: 'applying' })),
    async close(id, closing, settle) {
      return store.write('full', (scope) => {
        const record = move(scope, id, {
          status: closing.outcome,
          statusReason: closing.reason,
          needsOperator: closing.needsOperator,
          newCommit: closing.newCommit,
          endedAt: clock.now(),
        });
        endOpenPhases(scope, id, closing.recovered ? 'recovered' : 'failed', clock.now());
        const { outcome, recovered, left } = closing;
        settle(scope, { record, outcome, recovered, left });
        return record;
      });
    },
    async phaseStarted(transactionId, phase, detail) {
      const startedAt = clock.now();
      return store.write('normal', (scope) => {
        const sequence = scope.transactions.phases(transactionId).length + 1;
        scope.transactions.insertPhase({
          transactionId,
          sequence,
          phase,
          startedAt,
          endedAt: null,
          outcome: null,
          detail,
        });
        return sequence;
      });
    },
    async phaseEnded(id, sequence, outcome, detail) {
      const row = phases(id).find((phase) => phase.sequence === sequence);
      if (row === undefined) throw new Error(`${id} has no phase ${sequence}`);
      return store.write('normal', (scope) =>
        scope.transactions.updatePhase({ ...row, endedAt: clock.now(), outcome, detail }),
      );
    },
    phaseDetails: (id, phase) =>
      phases(id).flatMap((row) => (row.phase === phase && row.detail !== null ? [row.detail] : [])),
    get,
    open: () => store.read((repositories) => repositories.transactions.open()),
  };
}

function move(scope: WriteScope, id: TransactionId, change: Partial<TransactionRecord>): TransactionRecord {
  const record = scope.transactions.get(id);
  if (record === null) throw new Error(`${id} is not in the journal`);
  const moved = { ...record, ...change };
  scope.transactions.update(moved);
  return moved;
}

/** A step during which the engine died, or that was refused, has no end of its own. */
function endOpenPhases(
  scope: WriteScope,
  id: TransactionId,
  outcome: TransactionPhaseRecord['outcome'],
  at: string,
): void {
  for (const phase of scope.transactions.phases(id))
    if (phase.endedAt === null) scope.transactions.updatePhase({ ...phase, endedAt: at, outcome });
}
