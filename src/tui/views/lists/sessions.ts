import type { SessionRecord } from '../../../engine/api.ts';
import { seg } from '../../text/row.ts';
import { elapsed } from '../../text/when.ts';
import { isLiveSession, statusTone, statusWords } from '../words.ts';
import { type ListSource, newestFirst } from './list-source.ts';

export const sessionList: ListSource<SessionRecord> = {
  empty: 'no session yet: the engine starts one for each open task',
  items: (data) => newestFirst(data.snapshot?.sessions ?? [], (session) => (isLiveSession(session.status) ? 0 : 1)),
  id: (session) => session.id,
  search: (session) => `${session.id} ${session.status} ${session.agentId} ${session.taskId ?? ''}`,
  entry: (session, _data, nowMs) => ({
    id: session.id,
    body: [
      seg(`${session.agentId} `),
      seg(`${statusWords(session.status)} `, statusTone(session.status)),
      seg(session.taskId ?? '', 'dim'),
    ],
    right: [seg(` ${elapsed(session.startedAt, session.endedAt, nowMs)}`, 'dim')],
  }),
};
