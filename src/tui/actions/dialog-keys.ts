import type { DialogState } from '../state/screen-state.ts';
import type { Key } from '../terminal/decode-keys.ts';
import { editField, fieldText, insertText, type TextField } from '../text/text-field.ts';
import { approveRefusal } from '../views/dialogs/approve.ts';
import { type ActionHost, type ActionView, say } from './action.ts';

/** Keys while a dialog is open: it takes them all. */
export function dialogKey(view: ActionView, host: ActionHost, dialog: DialogState, key: Key): void {
  if (key.name === 'esc' || (key.name === 'ctrl-c' && dialog.kind !== 'quit')) {
    close(host);
    return;
  }
  switch (dialog.kind) {
    case 'help':
      helpKey(host, dialog, key);
      return;
    case 'quit':
      quitKey(host, dialog, key);
      return;
    case 'approve':
      approveKey(view, host, dialog, key);
      return;
    case 'reject':
    case 'request_changes':
      wordsKey(host, dialog, key);
      return;
    case 'rollback':
      rollbackKey(host, dialog, key);
      return;
    case 'stop_session': {
      const { sessionId } = dialog;
      if (!isYes(key)) return;
      close(host);
      host.command('session.stop', { sessionId }, `stop ${sessionId}`, () => `${sessionId} is told to stop`);
      return;
    }
    case 'new_task':
      newTaskKey(host, dialog, key);
      return;
  }
}

function close(host: ActionHost): void {
  host.update((ui) => ({ ...ui, dialog: null }));
}

function show(host: ActionHost, dialog: DialogState): void {
  host.update((ui) => (ui.dialog === null ? ui : { ...ui, dialog }));
}

function isYes(key: Key): boolean {
  return key.name === 'y' || key.name === 'Y' || key.name === 'enter';
}

function scrolled(top: number, key: Key): number | null {
  switch (key.name) {
    case 'j':
    case 'down':
      return top + 1;
    case 'k':
    case 'up':
      return Math.max(0, top - 1);
    case 'pgdn':
    case ' ':
    case 'ctrl-d':
      return top + 8;
    case 'pgup':
    case 'ctrl-u':
      return Math.max(0, top - 8);
    case 'g':
    case 'home':
      return 0;
    default:
      return null;
  }
}

function helpKey(host: ActionHost, dialog: DialogState & { kind: 'help' }, key: Key): void {
  const top = scrolled(dialog.top, key);
  if (top !== null) show(host, { ...dialog, top });
  else if (key.name === '?' || key.name === 'q' || key.name === 'enter') close(host);
}

function quitKey(host: ActionHost, dialog: DialogState & { kind: 'quit' }, key: Key): void {
  const code = dialog.cause === 'q' ? 0 : 130;
  if (key.name === 'd') host.exit('drain', code);
  else if (key.name === 's' || key.name === 'ctrl-c') host.exit('stop', key.name === 's' ? code : 130);
  else if (key.name === 'c' || key.name === 'n') close(host);
}

function approveKey(view: ActionView, host: ActionHost, dialog: DialogState & { kind: 'approve' }, key: Key): void {
  const { proposalId, revision } = dialog;
  if (!isYes(key)) {
    const top = scrolled(dialog.top, key);
    if (top !== null) show(host, { ...dialog, top });
    else if (key.name === 'n') close(host);
    return;
  }
  const refusal = approveRefusal(view.state.data, proposalId, revision);
  if (refusal !== null) {
    host.update((ui) => ({
      ...ui,
      dialog: null,
      notice: { level: 'error', text: `${proposalId} can't be approved: ${refusal.text}`, remedy: refusal.remedy },
    }));
    return;
  }
  close(host);
  host.command(
    'proposal.approve',
    { proposalId, revision, origin: 'tui', note: null },
    `approve ${proposalId}`,
    ({ applied, transactionId, gates }) => {
      if (applied)
        return `${proposalId} r${revision} is approved and applied${transactionId === null ? '' : ` as ${transactionId}`}`;
      const open = gates.filter((gate) => gate.status === 'pending' || gate.status === 'failed').map((gate) => gate.id);
      return `${proposalId} r${revision} is approved; not applied yet${open.length === 0 ? '' : `, open: ${open.join(', ')}`}`;
    },
  );
}

function wordsKey(host: ActionHost, dialog: DialogState & { kind: 'reject' | 'request_changes' }, key: Key): void {
  const { proposalId, revision } = dialog;
  if (key.name !== 'enter') {
    const field = edited(dialog.field, key, true);
    if (field !== null) show(host, { ...dialog, field });
    return;
  }
  const words = fieldText(dialog.field).trim();
  if (words === '') {
    say(host, dialog.kind === 'reject' ? 'say why first, or Esc' : 'say what to change first, or Esc');
    return;
  }
  close(host);
  if (dialog.kind === 'reject') {
    host.command(
      'proposal.reject',
      { proposalId, revision, origin: 'tui', reason: words },
      `reject ${proposalId}`,
      () => `${proposalId} r${revision} is rejected`,
    );
    return;
  }
  host.command(
    'proposal.requestChanges',
    { proposalId, revision, origin: 'tui', message: words },
    `send back ${proposalId}`,
    () => `${proposalId} r${revision} went back to its agent`,
  );
}

function rollbackKey(host: ActionHost, dialog: DialogState & { kind: 'rollback' }, key: Key): void {
  const { transactionId } = dialog;
  if (key.name !== 'enter') {
    const field = edited(dialog.field, key, false);
    if (field !== null) show(host, { ...dialog, field });
    return;
  }
  const reason = fieldText(dialog.field).trim();
  if (reason === '') {
    say(host, 'say why first: it stands in the commit and in the log; or Esc');
    return;
  }
  close(host);
  host.command(
    'transaction.rollback',
    { transactionId, origin: 'tui', reason },
    `roll back ${transactionId}`,
    (value) => `${transactionId} is rolled back by ${value.transactionId}`,
  );
}

function newTaskKey(host: ActionHost, dialog: DialogState & { kind: 'new_task' }, key: Key): void {
  const [title, body, paths] = dialog.fields;
  if (key.name === 'tab' || key.name === 'down' || (key.name === 'enter' && dialog.active < 2)) {
    show(host, { ...dialog, active: dialog.active === 0 ? 1 : dialog.active === 1 ? 2 : 0, problem: null });
    return;
  }
  if (key.name === 'shift-tab' || key.name === 'up') {
    show(host, { ...dialog, active: dialog.active === 0 ? 2 : dialog.active === 2 ? 1 : 0, problem: null });
    return;
  }
  if (key.name !== 'enter') {
    const field = edited(dialog.fields[dialog.active], key, dialog.active === 1);
    if (field === null) return;
    const fields: readonly [TextField, TextField, TextField] = [
      dialog.active === 0 ? field : title,
      dialog.active === 1 ? field : body,
      dialog.active === 2 ? field : paths,
    ];
    show(host, { ...dialog, fields, problem: null });
    return;
  }
  const words = fieldText(title).trim();
  if (words === '') {
    show(host, { ...dialog, active: 0, problem: 'a task needs a title' });
    return;
  }
  const writable = fieldText(paths)
    .split(/[\s,]+/)
    .filter(Boolean);
  close(host);
  host.command(
    'task.add',
    {
      runId: null,
      tasks: [
        {
          title: words,
          body: fieldText(body),
          readablePaths: null,
          writablePaths: writable.length === 0 ? null : writable,
          risk: 'normal',
          priority: 0,
          role: 'Implementer',
          agentId: null,
          dependsOn: [],
          expectedTests: [],
        },
      ],
    },
    'add task',
    ({ runId, taskIds }) => `${taskIds.join(', ')} joined ${runId}`,
  );
}

/** The field after a key; null when the key is none for fields. A paste is text; only `lines` fields keep line feeds. */
function edited(field: TextField, key: Key, lines: boolean): TextField | null {
  if (key.name === 'ctrl-j') return lines ? insertText(field, '\n') : field;
  if (key.text === undefined) return editField(field, key.name);
  return insertText(field, lines ? key.text : key.text.replace(/[\r\n]+/g, ' '));
}
