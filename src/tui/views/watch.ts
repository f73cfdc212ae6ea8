import type { EventRecord, SessionRecord, Snapshot } from '../../engine/api.ts';
import { type Row, rowOf, seg } from '../text/row.ts';
import { eventList } from './lists/events.ts';
import { sessionList } from './lists/sessions.ts';
import { isLiveSession, statusTone, statusWords } from './words.ts';

/** What `watch` knows. */
export interface WatchState {
  readonly snapshot: Snapshot | null;
  readonly stale: string | null;
  readonly runId: string | null;
  /** Oldest first, without gaps or repetitions. */
  readonly events: readonly EventRecord[];
  /** How many rows the view is above the end; 0 follows. */
  readonly back: number;
  readonly size: { readonly columns: number; readonly rows: number };
  readonly nowMs: number;
}

export function watchHeader(state: WatchState): readonly Row[] {
  const { snapshot } = state;
  if (snapshot === null) return [rowOf(' opening …', 'dim')];
  const run = watchedRun(state);
  const count = snapshot.attention.length;
  const rows: Row[] = [
    [
      seg(` ${snapshot.project.name} `, 'strong'),
      ...(run === null
        ? [seg(state.runId === null ? 'no run' : `no run ${state.runId}`, 'dim')]
        : [seg(`${run.id} ${statusWords(run.status)}`, statusTone(run.status))]),
    ],
  ];
  if (state.stale !== null) rows.push([seg(` ! old: ${state.stale}`, 'warn')]);
  if (count > 0) rows.push([seg(` ● ${count} ${count === 1 ? 'needs' : 'need'} you`, 'warn')]);
  for (const item of snapshot.attention.slice(0, 3)) {
    const name = item.text.includes(item.id) ? [] : [seg(`${item.id} `, 'strong')];
    rows.push([seg('   '), ...name, seg(item.text)]);
  }
  if (count > 3) rows.push(rowOf(`   and ${count - 3} more`, 'dim'));
  return rows;
}

export function watchSessions(state: WatchState, cells: number): readonly Row[] {
  return liveSessions(state).map((session) => {
    const entry = sessionList.entry(session, noData, state.nowMs);
    return [seg(` ${entry.id} `), ...entry.body, ...(cells < 34 ? [] : entry.right)];
  });
}

/** The events in a window of `height` rows; a narrow pane leaves out who did it. */
export function watchEvents(state: WatchState, height: number, cells: number): readonly Row[] {
  const end = Math.max(Math.min(height, state.events.length), state.events.length - state.back);
  return state.events.slice(Math.max(0, end - height), end).map((event) => {
    const entry = eventList.entry(event, noData, state.nowMs);
    return [seg(` ${entry.id} `, 'dim'), ...entry.body, ...(cells < 44 ? [] : entry.right)];
  });
}

function watchedRun(state: WatchState) {
  const runs = state.snapshot?.runs ?? [];
  return (state.runId === null ? runs.at(-1) : runs.find((run) => run.id === state.runId)) ?? null;
}

function liveSessions(state: WatchState): readonly SessionRecord[] {
  return (state.snapshot?.sessions ?? []).filter(
    (session) => isLiveSession(session.status) && (state.runId === null || session.runId === state.runId),
  );
}

/** The entries used here read nothing but their own record. */
const noData = { snapshot: null, stale: null, events: [], diff: null, transaction: null, log: null } as const;
