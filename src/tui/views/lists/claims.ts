import type { ClaimRecord } from '../../../engine/api.ts';
import { seg } from '../../text/row.ts';
import { statusTone, statusWords } from '../words.ts';
import { type ListSource, newestFirst } from './list-source.ts';

export const claimList: ListSource<ClaimRecord> = {
  empty: 'nothing is claimed: sessions claim what they may write',
  items: (data) => newestFirst(data.snapshot?.claims ?? [], (claim) => (claim.status === 'active' ? 0 : 1)),
  id: (claim) => claim.id,
  search: (claim) => `${claim.id} ${claim.mode} ${claim.path} ${claim.agentId} ${claim.status}`,
  entry: (claim) => ({
    id: claim.id,
    body: [
      seg(`${claim.mode} `),
      ...(claim.status === 'active' ? [] : [seg(`${statusWords(claim.status)} `, statusTone(claim.status))]),
      seg(claim.path),
    ],
    right: [seg(` ${claim.agentId}`, 'dim')],
  }),
};
