/** The list panels in the order of their digits, and the two panes on the right. */
export const LIST_IDS = ['runs', 'tasks', 'proposals', 'sessions', 'claims', 'events', 'transactions'] as const;
export type ListId = (typeof LIST_IDS)[number];
export type PaneId = ListId | 'detail' | 'log';

export const LIST_TITLES: Readonly<Record<ListId, string>> = {
  runs: 'Runs',
  tasks: 'Tasks',
  proposals: 'Proposals',
  sessions: 'Sessions',
  claims: 'Claims',
  events: 'Events',
  transactions: 'Transactions',
};

export function isList(pane: PaneId): pane is ListId {
  return pane !== 'detail' && pane !== 'log';
}

export function listDigit(list: ListId): string {
  return String(LIST_IDS.indexOf(list) + 1);
}

/** A record of one value per list. */
export function perList<T>(make: (list: ListId) => T): Readonly<Record<ListId, T>> {
  return {
    runs: make('runs'),
    tasks: make('tasks'),
    proposals: make('proposals'),
    sessions: make('sessions'),
    claims: make('claims'),
    events: make('events'),
    transactions: make('transactions'),
  };
}
