import { isTerminal, type RunRecord } from '../../../engine/api.ts';
import { seg } from '../../text/row.ts';
import { shortRef, statusTone, statusWords } from '../words.ts';
import { type ListSource, newestFirst } from './list-source.ts';

export const runList: ListSource<RunRecord> = {
  empty: 'no run yet: n makes a task and its run',
  items: (data) => newestFirst(data.snapshot?.runs ?? [], (run) => (isTerminal('run', run.status) ? 1 : 0)),
  id: (run) => run.id,
  search: (run) => `${run.id} ${run.status} ${run.goal}`,
  entry: (run) => ({
    id: run.id,
    body: [seg(`${statusWords(run.status)} `, statusTone(run.status)), seg(run.goal)],
    right: [seg(` → ${shortRef(run.targetRef)}`, 'dim')],
  }),
};
