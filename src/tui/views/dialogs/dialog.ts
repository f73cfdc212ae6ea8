import type { DialogState, ScreenData } from '../../state/screen-state.ts';
import { wrapText } from '../../text/measure.ts';
import { type Row, rowOf, seg } from '../../text/row.ts';
import { isLiveSession, plural, shortCommit, shortRef } from '../words.ts';
import { approveRows } from './approve.ts';
import { helpRows } from './help.ts';
import { fieldRows } from './text-field-rows.ts';

export interface DialogView {
  readonly title: string;
  readonly rows: readonly Row[];
  /** First row shown when there are more than fit. */
  readonly top: number;
}

export function dialogView(dialog: DialogState, data: ScreenData, cells: number): DialogView {
  switch (dialog.kind) {
    case 'help':
      return { title: 'Keys', rows: helpRows(dialog.pane, cells), top: dialog.top };
    case 'approve':
      return {
        title: `Approve ${dialog.proposalId} r${dialog.revision}`,
        rows: approveRows(data, dialog.proposalId, dialog.revision, cells),
        top: dialog.top,
      };
    case 'quit':
      return { title: 'Quit', rows: quitRows(data, cells), top: 0 };
    case 'reject':
      return {
        title: `Reject ${dialog.proposalId} r${dialog.revision}`,
        rows: [
          ...words('The agent and the log get your reason. Its task goes on while attempts are left.', cells),
          [],
          ...fieldRows('Why', dialog.field, true, cells),
          [],
          keys('↵', 'reject', '^j', 'new line'),
        ],
        top: 0,
      };
    case 'request_changes':
      return {
        title: `Send ${dialog.proposalId} r${dialog.revision} back`,
        rows: [
          ...words('A new session starts from this revision with your words.', cells),
          [],
          ...fieldRows('What to change', dialog.field, true, cells),
          [],
          keys('↵', 'send', '^j', 'new line'),
        ],
        top: 0,
      };
    case 'rollback':
      return { title: `Roll back ${dialog.transactionId}`, rows: rollbackRows(dialog, data, cells), top: 0 };
    case 'stop_session':
      return {
        title: `Stop ${dialog.sessionId}`,
        rows: [
          ...words(
            'Its container is ended. What it has changed so far is kept (`roundtable sessions show` says what). Its task is blocked until its run is resumed.',
            cells,
          ),
          [],
          keys('y', 'stop it'),
        ],
        top: 0,
      };
    case 'new_task':
      return {
        title: 'New task',
        rows: [
          ...fieldRows('Title', dialog.fields[0], dialog.active === 0, cells),
          [],
          ...fieldRows('What to do', dialog.fields[1], dialog.active === 1, cells),
          [],
          ...fieldRows(
            'May write (paths or globs; empty: as configured)',
            dialog.fields[2],
            dialog.active === 2,
            cells,
          ),
          [],
          ...(dialog.problem === null ? [] : [rowOf(` ✗ ${dialog.problem}`, 'bad')]),
          keys('↵', dialog.active === 2 ? 'add the task' : 'next field', 'Tab', 'next field'),
        ],
        top: 0,
      };
  }
}

function quitRows(data: ScreenData, cells: number): readonly Row[] {
  const live = (data.snapshot?.sessions ?? []).filter((session) => isLiveSession(session.status));
  return [
    ...words(
      `${plural(live.length, 'session')} ${live.length === 1 ? 'is' : 'are'} running in this engine: ${live.map((session) => `${session.id} ${session.agentId}`).join(', ')}.`,
      cells,
    ),
    [],
    [seg(' d', 'strong'), seg('   drain: leave the screen, let them finish, then end')],
    [seg(' s', 'strong'), seg('   stop: end them now; their work is exported and kept')],
    [seg(' Esc', 'strong'), seg(' stay')],
  ];
}

function rollbackRows(dialog: DialogState & { kind: 'rollback' }, data: ScreenData, cells: number): readonly Row[] {
  const transaction = data.snapshot?.transactions.find((item) => item.id === dialog.transactionId);
  if (transaction === undefined) return [rowOf(' it is gone: Esc goes back')];
  const paths = data.transaction?.id === transaction.id ? (data.transaction.detail?.paths ?? null) : null;
  const shown = (paths ?? []).slice(0, 8);
  return [
    ...words(
      `The change of ${transaction.proposalId} r${transaction.revision} (commit ${shortCommit(transaction.newCommit) || 'none'}) is undone on ${shortRef(transaction.targetRef)} by a new commit. Later edits in the same places are merged, or the rollback is refused and lists them; nothing is overwritten.`,
      cells,
    ),
    [],
    ...(paths === null
      ? [rowOf(' reading the paths …', 'dim')]
      : [rowOf(` ${plural(paths.length, 'path')}`, 'strong')]),
    ...shown.map((path) => rowOf(`   ${path}`)),
    ...(paths !== null && paths.length > shown.length
      ? [rowOf(`   and ${paths.length - shown.length} more`, 'dim')]
      : []),
    [],
    ...fieldRows('Why', dialog.field, true, cells),
    [],
    keys('↵', 'roll back'),
  ];
}

function words(text: string, cells: number): readonly Row[] {
  return wrapText(text, Math.max(10, cells - 2)).map((line) => rowOf(` ${line}`));
}

/** Pairs of key and meaning, and Esc. */
function keys(...pairs: readonly string[]): Row {
  const out: Row[number][] = [];
  for (let index = 0; index < pairs.length; index += 2) {
    out.push(seg(` ${pairs[index]}`, 'strong'), seg(` ${pairs[index + 1]}   `));
  }
  return [...out, seg(' Esc', 'strong'), seg(' back')];
}
