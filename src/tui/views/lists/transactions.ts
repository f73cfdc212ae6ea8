import type { TransactionRecord } from '../../../engine/api.ts';
import { seg } from '../../text/row.ts';
import { shortCommit, shortRef, statusTone, statusWords } from '../words.ts';
import { type ListSource, newestFirst } from './list-source.ts';

export const transactionList: ListSource<TransactionRecord> = {
  empty: 'nothing was applied yet: a on a proposal approves and applies it',
  items: (data) => newestFirst(data.snapshot?.transactions ?? [], (transaction) => (transaction.needsOperator ? 0 : 1)),
  id: (transaction) => transaction.id,
  search: (transaction) => `${transaction.id} ${transaction.kind} ${transaction.status} ${transaction.proposalId}`,
  entry: (transaction) => ({
    id: transaction.id,
    body: [
      seg(`${transaction.kind} `),
      transaction.needsOperator
        ? seg('needs you ', 'warn')
        : seg(`${statusWords(transaction.status)} `, statusTone(transaction.status)),
      seg(`${transaction.proposalId} r${transaction.revision}`),
    ],
    right: [seg(` ${shortRef(transaction.targetRef)} ${shortCommit(transaction.newCommit)}`, 'dim')],
  }),
};
