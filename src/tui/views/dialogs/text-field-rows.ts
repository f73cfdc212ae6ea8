import { gridText } from '../../text/measure.ts';
import { type Row, rowOf, rowWidth, type Segment, seg } from '../../text/row.ts';
import { fieldText, type TextField } from '../../text/text-field.ts';

/** Rows that a field may take before it shows only the part around its cursor. */
const MAX_ROWS = 6;

/** A labelled field, wrapped, its cursor an inverse cell; the mark before the label says which one takes the keys. */
export function fieldRows(label: string, field: TextField, active: boolean, cells: number): readonly Row[] {
  const width = Math.max(8, cells - 4);
  const rows: Segment[][] = [[]];
  let used = 0;
  let cursorRow = 0;
  const put = (text: string, tone: Segment['tone']): void => {
    const piece = seg(text, tone);
    const size = rowWidth([piece]);
    if (used + size > width) {
      rows.push([]);
      used = 0;
    }
    if (tone === 'inverse') cursorRow = rows.length - 1;
    const row = rows[rows.length - 1] ?? [];
    const last = row[row.length - 1];
    if (last !== undefined && last.tone === tone) row[row.length - 1] = seg(last.text + text, tone);
    else row.push(piece);
    used += size;
  };
  for (const [index, cluster] of field.clusters.entries()) {
    const tone = active && index === field.cursor ? 'inverse' : 'plain';
    if (cluster === '\n') {
      if (tone === 'inverse') put(' ', 'inverse');
      rows.push([]);
      used = 0;
    } else put(gridText(cluster), tone);
  }
  if (active && field.cursor === field.clusters.length) put(' ', 'inverse');
  const from = Math.max(0, Math.min(cursorRow - MAX_ROWS + 1, rows.length - MAX_ROWS));
  const side = active ? '▌' : '│';
  return [
    rowOf(
      ` ${active ? '▸' : ' '}${label}${fieldText(field) === '' && !active ? ': empty' : ''}`,
      active ? 'strong' : 'dim',
    ),
    ...rows.slice(from, from + MAX_ROWS).map((row): Row => [seg(` ${side} `, active ? 'info' : 'dim'), ...row]),
  ];
}
