import type { ProposalView, SessionRecord, TaskRecord, TransactionRecord } from '../../engine/api.ts';
import { isLiveSession } from '../views/words.ts';
import type { ActionView } from './action.ts';

/** The proposal that a key would act on: the selected one, or that of the selected task, session or transaction. */
export function currentProposal(view: ActionView): ProposalView | null {
  const snapshot = view.state.data.snapshot;
  const id = view.selected;
  if (snapshot === null || id === null) return null;
  switch (view.state.ui.list) {
    case 'proposals':
      return snapshot.proposals.find((proposal) => proposal.id === id) ?? null;
    case 'tasks':
      return snapshot.proposals.findLast((proposal) => proposal.taskId === id) ?? null;
    case 'sessions':
      return snapshot.proposals.findLast((proposal) => proposal.sessionId === id) ?? null;
    case 'transactions': {
      const transaction = snapshot.transactions.find((item) => item.id === id);
      return snapshot.proposals.find((proposal) => proposal.id === transaction?.proposalId) ?? null;
    }
    default:
      return null;
  }
}

/** The transaction that R would undo: the selected one, or the one that applied the selected proposal. */
export function currentTransaction(view: ActionView): TransactionRecord | null {
  const transactions = view.state.data.snapshot?.transactions ?? [];
  if (view.state.ui.list === 'transactions') return transactions.find((item) => item.id === view.selected) ?? null;
  const proposal = currentProposal(view);
  if (proposal === null) return null;
  return transactions.findLast((item) => item.proposalId === proposal.id && item.kind === 'apply') ?? null;
}

/** The selected session, or the live one of the selected task. */
export function currentSession(view: ActionView): SessionRecord | null {
  const sessions = view.state.data.snapshot?.sessions ?? [];
  if (view.state.ui.list === 'sessions') return sessions.find((item) => item.id === view.selected) ?? null;
  if (view.state.ui.list !== 'tasks') return null;
  return sessions.findLast((item) => item.taskId === view.selected && isLiveSession(item.status)) ?? null;
}

export function currentTask(view: ActionView): TaskRecord | null {
  if (view.state.ui.list !== 'tasks') return null;
  return view.state.data.snapshot?.tasks.find((task) => task.id === view.selected) ?? null;
}

export function liveSessions(view: ActionView): number {
  return (view.state.data.snapshot?.sessions ?? []).filter((session) => isLiveSession(session.status)).length;
}
