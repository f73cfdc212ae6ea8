import type { RunRecord } from '../../../engine/api.ts';
import type { ScreenData } from '../../state/screen-state.ts';
import type { Row } from '../../text/row.ts';
import { clockTime, until } from '../../text/when.ts';
import { plural, shortRef, statusTone, statusWords } from '../words.ts';
import { type DetailModel, field, rowsModel, section } from './detail-model.ts';

const APPROVE_WORDS: Readonly<Record<RunRecord['approveMode'], string>> = {
  operator: 'you approve every proposal',
  policy: 'you approve where the policy asks for it',
  never: 'nothing is applied in this run',
};

export function runDetail(run: RunRecord, data: ScreenData, cells: number, nowMs: number): DetailModel {
  const tasks = (data.snapshot?.tasks ?? []).filter((task) => task.runId === run.id);
  const counts = new Map<string, number>();
  for (const task of tasks) counts.set(task.status, (counts.get(task.status) ?? 0) + 1);
  const summary = Array.from(counts, ([status, count]) => `${count} ${statusWords(status)}`).join(', ');
  const limit = run.maxIterations === null ? '' : ` of at most ${run.maxIterations}`;
  const rows: readonly Row[] = [
    ...field('status', statusWords(run.status), cells, statusTone(run.status)),
    ...field('why', run.statusReason, cells),
    ...field('lands on', shortRef(run.targetRef), cells),
    ...field('approval', APPROVE_WORDS[run.approveMode], cells),
    ...field('scope', run.scope.join(', ') || 'as configured for tasks', cells),
    ...field('sessions', `${plural(run.iterations, 'session')} started${limit}`, cells),
    ...field('ends', run.deadlineAt === null ? null : until(run.deadlineAt, nowMs), cells),
    ...field('began', clockTime(run.createdAt), cells),
    ...field('tasks', summary === '' ? 'none yet: n writes one' : summary, cells),
    ...section('Goal', run.goal, cells),
  ];
  return rowsModel(`${run.id} · ${run.goal}`, rows);
}
