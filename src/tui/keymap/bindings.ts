import type { PaneId } from '../state/panes.ts';

/** Everything a key can do on this screen; what each does is in `actions/`. */
export type ActionName =
  | 'next_pane'
  | 'previous_pane'
  | 'pane_left'
  | 'pane_right'
  | 'open'
  | 'back'
  | 'down'
  | 'up'
  | 'first'
  | 'last'
  | 'page_down'
  | 'page_up'
  | 'half_down'
  | 'half_up'
  | 'sideways_left'
  | 'sideways_right'
  | 'next_hunk'
  | 'previous_hunk'
  | 'next_file'
  | 'previous_file'
  | 'zoom'
  | 'filter'
  | 'next_attention'
  | 'approve'
  | 'reject'
  | 'request_changes'
  | 'run_tests'
  | 'rollback'
  | 'stop_session'
  | 'confirm_task'
  | 'new_task'
  | 'help'
  | 'quit'
  | 'interrupt'
  | 'suspend'
  | 'redraw'
  | 'list_1'
  | 'list_2'
  | 'list_3'
  | 'list_4'
  | 'list_5'
  | 'list_6'
  | 'list_7';

/** Keys that do one thing in one place. Help, hints and dispatch are made from these rows. */
export interface Binding {
  /** Names as the key decoder gives them. */
  readonly keys: readonly string[];
  /** As it stands in help and hints. */
  readonly show: string;
  readonly label: string;
  readonly action: ActionName;
  /** Shown in the bottom line while it can act. */
  readonly hint?: true;
}

const MOVE: readonly Binding[] = [
  { keys: ['j', 'down'], show: 'j ↓', label: 'down', action: 'down' },
  { keys: ['k', 'up'], show: 'k ↑', label: 'up', action: 'up' },
  { keys: ['g', 'home'], show: 'g Home', label: 'first', action: 'first' },
  { keys: ['G', 'end'], show: 'G End', label: 'last', action: 'last' },
  { keys: ['pgdn', ' '], show: 'PgDn', label: 'a page down', action: 'page_down' },
  { keys: ['pgup'], show: 'PgUp', label: 'a page up', action: 'page_up' },
  { keys: ['ctrl-d'], show: '^d', label: 'half a page down', action: 'half_down' },
  { keys: ['ctrl-u'], show: '^u', label: 'half a page up', action: 'half_up' },
];

const APPROVE: Binding = { keys: ['a'], show: 'a', label: 'approve', action: 'approve', hint: true };
const REQUEST: Binding = { keys: ['m'], show: 'm', label: 'request changes', action: 'request_changes', hint: true };
const REJECT: Binding = { keys: ['x'], show: 'x', label: 'reject', action: 'reject', hint: true };
const TEST: Binding = { keys: ['t'], show: 't', label: 'run tests', action: 'run_tests', hint: true };
const ROLLBACK: Binding = { keys: ['R'], show: 'R', label: 'roll back', action: 'rollback', hint: true };
const STOP: Binding = { keys: ['s'], show: 's', label: 'stop session', action: 'stop_session', hint: true };
const CONFIRM: Binding = { keys: ['c'], show: 'c', label: 'confirm task', action: 'confirm_task', hint: true };
const OPEN: Binding = { keys: ['enter'], show: '↵', label: 'open', action: 'open', hint: true };
const SIDEWAYS: readonly Binding[] = [
  { keys: ['<'], show: '<', label: 'scroll to the left', action: 'sideways_left' },
  { keys: ['>'], show: '>', label: 'scroll to the right', action: 'sideways_right' },
];

const LIST: readonly Binding[] = [OPEN, ...MOVE];

/** Work on the thing at hand, from wherever it is shown. */
const WORK: readonly Binding[] = [APPROVE, REQUEST, REJECT, TEST, ROLLBACK, STOP, CONFIRM];

/** What each pane's own keys are; looked up before the shared ones. */
export const PANE_BINDINGS: Readonly<Record<PaneId, readonly Binding[]>> = {
  runs: LIST,
  tasks: LIST,
  proposals: LIST,
  sessions: LIST,
  claims: LIST,
  events: LIST,
  transactions: LIST,
  detail: [
    ...MOVE,
    { keys: [']'], show: ']', label: 'next hunk', action: 'next_hunk', hint: true },
    { keys: ['['], show: '[', label: 'previous hunk', action: 'previous_hunk' },
    { keys: ['}'], show: '}', label: 'next file', action: 'next_file' },
    { keys: ['{'], show: '{', label: 'previous file', action: 'previous_file' },
    ...SIDEWAYS,
  ],
  log: [...MOVE, ...SIDEWAYS],
};

/** Everywhere. */
export const SHARED_BINDINGS: readonly Binding[] = [
  ...WORK,
  { keys: ['n'], show: 'n', label: 'new task', action: 'new_task', hint: true },
  { keys: ['!'], show: '!', label: 'next that needs you', action: 'next_attention', hint: true },
  { keys: ['/'], show: '/', label: 'filter', action: 'filter', hint: true },
  { keys: ['z'], show: 'z', label: 'zoom', action: 'zoom', hint: true },
  { keys: ['1'], show: '1', label: 'runs', action: 'list_1' },
  { keys: ['2'], show: '2', label: 'tasks', action: 'list_2' },
  { keys: ['3'], show: '3', label: 'proposals', action: 'list_3' },
  { keys: ['4'], show: '4', label: 'sessions', action: 'list_4' },
  { keys: ['5'], show: '5', label: 'claims', action: 'list_5' },
  { keys: ['6'], show: '6', label: 'events', action: 'list_6' },
  { keys: ['7'], show: '7', label: 'transactions', action: 'list_7' },
  { keys: ['tab'], show: 'Tab', label: 'next pane', action: 'next_pane' },
  { keys: ['shift-tab'], show: '⇧Tab', label: 'previous pane', action: 'previous_pane' },
  { keys: ['l', 'right'], show: 'l →', label: 'pane to the right', action: 'pane_right' },
  { keys: ['h', 'left'], show: 'h ←', label: 'pane to the left', action: 'pane_left' },
  { keys: ['esc'], show: 'Esc', label: 'back, dismiss', action: 'back' },
  { keys: ['ctrl-z'], show: '^z', label: 'suspend, when idle', action: 'suspend' },
  { keys: ['ctrl-l'], show: '^l', label: 'draw the screen again', action: 'redraw' },
  { keys: ['ctrl-c'], show: '^c', label: 'leave', action: 'interrupt' },
  { keys: ['?'], show: '?', label: 'help', action: 'help', hint: true },
  { keys: ['q'], show: 'q', label: 'quit', action: 'quit', hint: true },
];

/** The rows in force in a pane, its own first. */
export function bindingsOf(pane: PaneId): readonly Binding[] {
  return [...PANE_BINDINGS[pane], ...SHARED_BINDINGS];
}

export function findBinding(pane: PaneId, key: string): Binding | null {
  return bindingsOf(pane).find((binding) => binding.keys.includes(key)) ?? null;
}
