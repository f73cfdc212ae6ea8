import type { EventRecord } from '../../../engine/api.ts';
import { seg, type Tone } from '../../text/row.ts';
import { clockTime } from '../../text/when.ts';
import { principalName } from '../words.ts';
import { type ListSource, newestFirst } from './list-source.ts';

export const eventList: ListSource<EventRecord> = {
  empty: 'nothing has happened yet',
  items: (data) => newestFirst(data.events),
  id: (event) => String(event.id),
  search: (event) => `${event.id} ${event.type} ${event.entityId} ${event.principal}`,
  entry: (event) => ({
    id: clockTime(event.at),
    body: [seg(`${event.type} `, eventTone(event.type)), seg(event.entityId)],
    right: [seg(` ${principalName(event.principal)}`, 'dim')],
  }),
};

/** Events say how they ended in the last word of their type. */
export function eventTone(type: string): Tone {
  if (/(failed|refused|aborted|orphaned|timed_out|denied|rejected|error)$/.test(type)) return 'bad';
  if (/(applied|passed|succeeded|accepted|approved|done|completed)$/.test(type)) return 'good';
  return 'plain';
}
