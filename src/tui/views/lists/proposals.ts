import { isTerminal, type ProposalView } from '../../../engine/api.ts';
import { seg } from '../../text/row.ts';
import { statusTone, statusWords } from '../words.ts';
import { attentionIds, type ListSource, newestFirst } from './list-source.ts';

export const proposalList: ListSource<ProposalView> = {
  empty: 'no proposal yet: they come from sessions; n writes a task',
  items: (data) => {
    const attention = attentionIds(data);
    return newestFirst(data.snapshot?.proposals ?? [], (proposal) => {
      if (attention.has(proposal.id)) return 0;
      return isTerminal('proposal', proposal.status) || proposal.status === 'accepted' ? 2 : 1;
    });
  },
  id: (proposal) => proposal.id,
  search: (proposal) => `${proposal.id} ${proposal.status} ${proposal.title} ${proposal.agentId}`,
  entry: (proposal, data) => ({
    id: proposal.id,
    body: [
      seg(`r${proposal.currentRevision} `, 'dim'),
      attentionIds(data).has(proposal.id)
        ? seg('needs you ', 'warn')
        : seg(`${statusWords(proposal.status)} `, statusTone(proposal.status)),
      seg(proposal.title),
    ],
    right: [seg(` +${proposal.revision.additions} −${proposal.revision.deletions}`, 'dim')],
  }),
};
