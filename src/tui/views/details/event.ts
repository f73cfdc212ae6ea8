import type { EventRecord } from '../../../engine/api.ts';
import { type Row, rowOf } from '../../text/row.ts';
import { principalName } from '../words.ts';
import { type DetailModel, field, rowsModel } from './detail-model.ts';

export function eventDetail(event: EventRecord, cells: number): DetailModel {
  const data = Object.entries(event.data);
  const rows: readonly Row[] = [
    ...field('what', event.type, cells),
    ...field('to', `${event.entity} ${event.entityId}`, cells),
    ...field('by', principalName(event.principal), cells),
    ...field('at', event.at, cells),
    ...field('run', event.runId, cells),
    ...field('digest', event.digest, cells),
    ...(data.length === 0 ? [] : [[], rowOf(' Data', 'strong')]),
    ...data.flatMap(([name, value]) => field(name, typeof value === 'string' ? value : JSON.stringify(value), cells)),
  ];
  return rowsModel(`event ${event.id} · ${event.type}`, rows);
}
