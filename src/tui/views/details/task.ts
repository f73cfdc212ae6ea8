import type { TaskRecord } from '../../../engine/api.ts';
import type { ScreenData } from '../../state/screen-state.ts';
import type { Row } from '../../text/row.ts';
import { principalName, statusTone, statusWords } from '../words.ts';
import { type DetailModel, field, rowsModel, section } from './detail-model.ts';

export function taskDetail(task: TaskRecord, data: ScreenData, cells: number): DetailModel {
  const sessions = (data.snapshot?.sessions ?? []).filter((session) => session.taskId === task.id);
  const proposals = (data.snapshot?.proposals ?? []).filter((proposal) => proposal.taskId === task.id);
  const rows: readonly Row[] = [
    ...field('status', statusWords(task.status), cells, statusTone(task.status)),
    ...field('why', task.statusReason, cells),
    ...field('role', task.agentId === null ? task.role : `${task.role}, only ${task.agentId}`, cells),
    ...field('risk', task.risk, cells),
    ...field('may write', task.writablePaths.join(', ') || 'nothing', cells),
    ...field('may read', task.readablePaths.join(', ') || 'nothing', cells),
    ...field('waits for', task.dependsOn.join(', '), cells),
    ...field('tests', task.expectedTests.map((argv) => argv.join(' ')).join(', '), cells),
    ...field('attempts', task.attempts === 0 ? '' : String(task.attempts), cells),
    ...field('run', task.runId, cells),
    ...field('made by', principalName(task.createdBy), cells),
    ...field('sessions', sessions.map((session) => `${session.id} ${statusWords(session.status)}`).join(', '), cells),
    ...field(
      'proposals',
      proposals.map((proposal) => `${proposal.id} ${statusWords(proposal.status)}`).join(', '),
      cells,
    ),
    ...section('What to do', task.body, cells),
    ...section('What the next session is told', task.feedback, cells),
  ];
  return rowsModel(`${task.id} · ${task.title}`, rows);
}
