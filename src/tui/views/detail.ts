import type { ScreenData, UiState } from '../state/screen-state.ts';
import { rowOf } from '../text/row.ts';
import { claimDetail } from './details/claim.ts';
import { type DetailModel, rowsModel } from './details/detail-model.ts';
import { eventDetail } from './details/event.ts';
import { proposalDetail } from './details/proposal.ts';
import { runDetail } from './details/run.ts';
import { sessionDetail } from './details/session.ts';
import { taskDetail } from './details/task.ts';
import { transactionDetail } from './details/transaction.ts';

/** The detail of what is selected in the current list. `id` is the resolved selection. */
export function detailModel(
  data: ScreenData,
  ui: UiState,
  id: string | null,
  cells: number,
  nowMs: number,
): DetailModel {
  const found = id === null ? null : find(data, ui, id, cells, nowMs);
  return (
    found ??
    rowsModel('Detail', [[], rowOf(' nothing is selected: j and k move, 1–7 choose a list, n writes a task', 'dim')])
  );
}

function find(data: ScreenData, ui: UiState, id: string, cells: number, nowMs: number): DetailModel | null {
  const { snapshot } = data;
  if (snapshot === null) return null;
  switch (ui.list) {
    case 'runs': {
      const run = snapshot.runs.find((item) => item.id === id);
      return run === undefined ? null : runDetail(run, data, cells, nowMs);
    }
    case 'tasks': {
      const task = snapshot.tasks.find((item) => item.id === id);
      return task === undefined ? null : taskDetail(task, data, cells);
    }
    case 'proposals': {
      const proposal = snapshot.proposals.find((item) => item.id === id);
      return proposal === undefined ? null : proposalDetail(proposal, data, cells, ui.detail.left);
    }
    case 'sessions': {
      const session = snapshot.sessions.find((item) => item.id === id);
      return session === undefined ? null : sessionDetail(session, data, cells, nowMs);
    }
    case 'claims': {
      const claim = snapshot.claims.find((item) => item.id === id);
      return claim === undefined ? null : claimDetail(claim, cells, nowMs);
    }
    case 'events': {
      const event = data.events.find((item) => String(item.id) === id);
      return event === undefined ? null : eventDetail(event, cells);
    }
    case 'transactions': {
      const transaction = snapshot.transactions.find((item) => item.id === id);
      return transaction === undefined ? null : transactionDetail(transaction, data, cells);
    }
  }
}
