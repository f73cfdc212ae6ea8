import { isTerminal, type TaskRecord } from '../../../engine/api.ts';
import { seg } from '../../text/row.ts';
import { statusTone, statusWords } from '../words.ts';
import { attentionIds, type ListSource, newestFirst } from './list-source.ts';

export const taskList: ListSource<TaskRecord> = {
  empty: 'no task yet: n writes one',
  items: (data) => {
    const attention = attentionIds(data);
    return newestFirst(data.snapshot?.tasks ?? [], (task) => {
      if (attention.has(task.id)) return 0;
      return isTerminal('task', task.status) || task.status === 'done' ? 2 : 1;
    });
  },
  id: (task) => task.id,
  search: (task) => `${task.id} ${task.status} ${task.title} ${task.agentId ?? ''}`,
  entry: (task, data) => {
    const waits = attentionIds(data).has(task.id);
    const proposal = data.snapshot?.proposals.findLast((candidate) => candidate.taskId === task.id);
    return {
      id: task.id,
      body: [
        waits ? seg('needs you ', 'warn') : seg(`${statusWords(task.status)} `, statusTone(task.status)),
        seg(task.title),
      ],
      right: proposal === undefined ? [] : [seg(` ${proposal.id}`, 'dim')],
    };
  },
};
