import type { LogState, UiState } from '../state/screen-state.ts';
import { type Row, rowOf, seg, shiftRow } from '../text/row.ts';
import { sanitizeLogLine } from '../text/sanitize.ts';

/** The visible lines of a log: the last `height` while it is followed, else from `top` on. */
export function logRows(log: LogState | null, ui: UiState['log'], height: number): readonly Row[] {
  if (log === null) return [rowOf(' no session to follow: 4 shows the sessions', 'dim')];
  const { buffer } = log;
  if (buffer.end === buffer.first) {
    if (log.problem !== null) return [rowOf(` ✗ ${log.problem.message}`, 'bad'), rowOf(` → ${log.problem.remedy}`)];
    return [rowOf(log.ended ? ' it wrote nothing' : ' nothing written yet', 'dim')];
  }
  const from = logTop(log, ui, height);
  const rows: Row[] = [];
  for (let number = from; number < buffer.end && rows.length < height; number++) {
    const line = buffer.line(number);
    if (line === null) continue;
    const text = shiftRow([seg(sanitizeLogLine(line.text), line.stream === 'stderr' ? 'warn' : 'plain')], ui.left);
    rows.push([line.stream === 'stderr' ? seg('!', 'warn') : seg(' '), ...text]);
  }
  return rows;
}

export function logTop(log: LogState, ui: UiState['log'], height: number): number {
  const last = Math.max(log.buffer.first, log.buffer.end - height);
  return ui.top === null ? last : Math.max(log.buffer.first, Math.min(ui.top, last));
}

export function logTitle(log: LogState | null, ui: UiState['log']): string {
  if (log === null) return 'log';
  const state = ui.top !== null ? 'held: G follows' : log.ended ? 'ended' : 'following';
  return `${log.sessionId} log · ${state}`;
}
