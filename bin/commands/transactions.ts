import type { Command } from 'commander';
import { type Engine, err, ok } from '../../src/engine/api.ts';
import { confirmDecision } from './confirm.ts';
import { type Invocation, implement, type Program, withExample } from './invocation.ts';
import { printPage } from './lists.ts';
import { notFound } from './not-found.ts';
import { addPaging, type PageOptions } from './page.ts';
import { withEngine, withSnapshot } from './with-engine.ts';

export function addTransactions(parent: Command, program: Program): void {
  addApply(parent, program);
  addRollback(parent, program);
  const group = parent.command('transactions').description('what was applied to the repository, and what was undone');
  withExample(group, 'roundtable transactions list');

  const list = addPaging(group.command('list').description('transactions, oldest first'));
  implement<PageOptions>(program, list, 'roundtable transactions list', (invocation) =>
    withSnapshot(invocation, 'transactions list', ({ transactions }) =>
      printPage(invocation, transactions, ['ID', 'STATUS', 'KIND', 'PROPOSAL', 'TARGET', 'COMMIT'], (transaction) => [
        transaction.id,
        transaction.status + (transaction.needsOperator ? ' (needs you)' : ''),
        transaction.kind,
        transaction.proposalId,
        transaction.targetRef,
        transaction.newCommit?.slice(0, 12) ?? '',
      ]),
    ),
  );
  addShow(group, program);
  addRecover(group, program);
}

function addShow(group: Command, program: Program): void {
  const command = group
    .command('show')
    .description('one transaction with its steps and paths')
    .argument('<id>', 'transaction');
  implement(program, command, 'roundtable transactions show TX-1', (invocation) =>
    withEngine(invocation, 'never', 'transactions show', async (engine) => {
      const { out, operands } = invocation;
      const found = await engine.query('transaction', { id: operands[0] ?? '' });
      if (found === null) return out.fail(notFound('transaction', operands[0], 'transactions list'));
      const { record, phases, paths } = found;
      out.document(found);
      const reason = record.statusReason === null ? '' : ` (${record.statusReason})`;
      out.line(`${record.id}  ${record.kind} ${record.proposalId} revision ${record.revision}`);
      out.line(`status  ${record.status}${reason}${record.needsOperator ? ', needs you' : ''}`);
      out.line(
        `target  ${record.targetRef} ${record.oldCommit.slice(0, 12)} → ${record.newCommit?.slice(0, 12) ?? 'no commit'}`,
      );
      for (const phase of phases) {
        out.line(
          `  ${phase.startedAt}  ${phase.phase} ${phase.outcome ?? 'running'}${phase.detail === null ? '' : `  ${phase.detail}`}`,
        );
      }
      for (const path of paths) out.line(`  ${path}`);
      return 0;
    }),
  );
}

function addRecover(group: Command, program: Program): void {
  const command = group
    .command('recover')
    .description('finish or undo what a killed process left; exit 3 when something needs you');
  implement(program, command, 'roundtable transactions recover', (invocation) =>
    // Taking the engine is what recovers; what is left afterwards needs a person.
    withEngine(invocation, 'brief', 'transactions recover', async (engine) => {
      const { out } = invocation;
      const { transactions } = await engine.query('snapshot', {});
      const left = transactions.filter((transaction) => transaction.needsOperator);
      out.document({
        needsOperator: left.map(({ id, status, statusReason }) => ({ id, status, reason: statusReason })),
      });
      if (left.length === 0) out.line('nothing is left to recover');
      for (const { id, status, statusReason } of left) out.line(`${id} ${status}: ${statusReason ?? 'needs a look'}`);
      return left.length === 0 ? 0 : 3;
    }),
  );
}

function addApply(parent: Command, program: Program): void {
  const command = parent
    .command('apply')
    .description('apply an approved proposal to the repository')
    .argument('<proposal>', 'proposal');
  implement(program, command, 'roundtable apply P-1', (invocation) =>
    withEngine(invocation, 'brief', 'apply', async (engine) => {
      const { out, operands } = invocation;
      const { proposals } = await engine.query('snapshot', {});
      const proposal = proposals.find((candidate) => candidate.id === operands[0]);
      if (proposal === undefined) return out.fail(notFound('proposal', operands[0], 'proposals list'));
      const question = `apply ${proposal.id} revision ${proposal.currentRevision} to the repository: ${proposal.title}`;
      const origin = await confirmDecision(invocation, proposal.id, question);
      if (!origin.ok) return out.fail(origin.error);
      const applied = await engine.command(
        'proposal.apply',
        { proposalId: proposal.id, origin: origin.value },
        'operator',
      );
      if (!applied.ok) return out.fail(applied.error);
      out.document({ proposalId: proposal.id, transactionId: applied.value.transactionId });
      out.line(`${proposal.id} applied by ${applied.value.transactionId}`);
      return 0;
    }),
  );
}

function addRollback(parent: Command, program: Program): void {
  const command = parent
    .command('rollback')
    .description('undo an applied transaction')
    .argument('<transaction>', 'transaction')
    .requiredOption('--reason <text>', 'why');
  implement<{ readonly reason: string }>(
    program,
    command,
    'roundtable rollback TX-1 --reason "breaks the build"',
    (invocation) =>
      withEngine(invocation, 'brief', 'rollback', async (engine) => {
        const { out, options } = invocation;
        const decided = await decideRollback(invocation, engine);
        if (!decided.ok) return out.fail(decided.error);
        const undone = await engine.command(
          'transaction.rollback',
          { ...decided.value, reason: options.reason },
          'operator',
        );
        if (!undone.ok) return out.fail(undone.error);
        out.document({ rolledBack: decided.value.transactionId, transactionId: undone.value.transactionId });
        out.line(`${decided.value.transactionId} undone by ${undone.value.transactionId}`);
        return 0;
      }),
  );
}

async function decideRollback<O>(invocation: Invocation<O>, engine: Engine) {
  const id = invocation.operands[0];
  const { transactions, proposals } = await engine.query('snapshot', {});
  const transaction = transactions.find((candidate) => candidate.id === id);
  if (transaction === undefined) return err(notFound('transaction', id, 'transactions list'));
  const title = proposals.find((proposal) => proposal.id === transaction.proposalId)?.title ?? '';
  const origin = await confirmDecision(
    invocation,
    transaction.id,
    `undo ${transaction.id}, which applied ${transaction.proposalId}: ${title}`,
  );
  return origin.ok ? ok({ transactionId: transaction.id, origin: origin.value }) : origin;
}
