import { isTerminal, type ProposalView } from '../../engine/api.ts';
import { textField } from '../text/text-field.ts';
import { statusWords } from '../views/words.ts';
import type { Action, ActionView } from './action.ts';
import { currentProposal, currentSession, currentTask, currentTransaction } from './targets.ts';

const PICK_PROPOSAL = 'select a proposal first: 3 shows them';

/** Null when the operator's word still counts for this proposal. */
function undecidable(proposal: ProposalView): string | null {
  if (isTerminal('proposal', proposal.status) || proposal.status === 'accepted') {
    return `${proposal.id} is ${statusWords(proposal.status)}, there is nothing to decide`;
  }
  if (proposal.status === 'applying') return `${proposal.id} is being applied just now`;
  return null;
}

function onProposal(view: ActionView): string | null {
  const proposal = currentProposal(view);
  return proposal === null ? PICK_PROPOSAL : undecidable(proposal);
}

export const approve: Action = {
  unavailable: onProposal,
  run: (view, host) => {
    const proposal = currentProposal(view);
    if (proposal === null) return;
    host.update((ui) => ({
      ...ui,
      dialog: { kind: 'approve', proposalId: proposal.id, revision: proposal.revision.number, top: 0 },
    }));
  },
};

function withWords(kind: 'reject' | 'request_changes'): Action {
  return {
    unavailable: onProposal,
    run: (view, host) => {
      const proposal = currentProposal(view);
      if (proposal === null) return;
      host.update((ui) => ({
        ...ui,
        dialog: { kind, proposalId: proposal.id, revision: proposal.revision.number, field: textField() },
      }));
    },
  };
}

export const reject = withWords('reject');
export const requestChanges = withWords('request_changes');

export const runTests: Action = {
  unavailable: (view) => {
    const proposal = currentProposal(view);
    if (proposal === null) return PICK_PROPOSAL;
    if (view.state.ui.busy.includes(`test ${proposal.id}`)) return `the tests of ${proposal.id} are running`;
    return undecidable(proposal);
  },
  run: (view, host) => {
    const proposal = currentProposal(view);
    if (proposal === null) return;
    host.command('proposal.test', { proposalId: proposal.id }, `test ${proposal.id}`, ({ passed }) =>
      passed ? `the tests of ${proposal.id} passed` : `the tests of ${proposal.id} failed: the gate says why`,
    );
  },
};

export const rollback: Action = {
  unavailable: (view) => {
    const transaction = currentTransaction(view);
    if (transaction === null) return 'select a transaction first: 7 shows them';
    if (transaction.kind === 'rollback') return `${transaction.id} is a rollback itself`;
    if (transaction.status !== 'applied') {
      return `${transaction.id} is ${statusWords(transaction.status)}: only what is applied is rolled back`;
    }
    return null;
  },
  run: (view, host) => {
    const transaction = currentTransaction(view);
    if (transaction === null) return;
    host.update((ui) => ({
      ...ui,
      dialog: { kind: 'rollback', transactionId: transaction.id, field: textField() },
    }));
  },
};

export const stopSession: Action = {
  unavailable: (view) => {
    const session = currentSession(view);
    if (session === null) return 'select a running session first: 4 shows them';
    return isTerminal('session', session.status) ? `${session.id} has ended: ${statusWords(session.status)}` : null;
  },
  run: (view, host) => {
    const session = currentSession(view);
    if (session === null) return;
    host.update((ui) => ({ ...ui, dialog: { kind: 'stop_session', sessionId: session.id } }));
  },
};

/** Opens a task that an agent proposed, or closes one whose session changed nothing. */
export const confirmTask: Action = {
  unavailable: (view) => {
    const task = currentTask(view);
    if (task === null) return 'select a task first: 2 shows them';
    const unchanged = view.state.data.snapshot?.attention.some(
      (item) => item.kind === 'unchanged_session' && item.id === task.id,
    );
    if (task.status === 'proposed' || unchanged === true) return null;
    return `${task.id} is ${statusWords(task.status)}, there is nothing to confirm`;
  },
  run: (view, host) => {
    const task = currentTask(view);
    if (task === null) return;
    host.command('task.confirm', { taskId: task.id }, `confirm ${task.id}`, () => `${task.id} is confirmed`);
  },
};

export const newTask: Action = {
  run: (_view, host) =>
    host.update((ui) => ({
      ...ui,
      dialog: {
        kind: 'new_task',
        fields: [textField(), textField(), textField()],
        active: 0,
        problem: null,
      },
    })),
};
