import { wrapText } from '../../text/measure.ts';
import { type Row, rowOf, seg, type Tone } from '../../text/row.ts';

/** What the detail pane shows of one thing. Rows are made when they are seen. */
export interface DetailModel {
  readonly title: string;
  /** Rows that stay on top while the rest scrolls from row `top` on. */
  head(top: number, cells: number): readonly Row[];
  readonly total: number;
  row(index: number, cells: number): Row;
  /** Scroll positions of files and hunks; empty for what is no diff. */
  readonly files: readonly number[];
  readonly hunks: readonly number[];
}

export function rowsModel(title: string, rows: readonly Row[]): DetailModel {
  return { title, head: () => [], total: rows.length, row: (index) => rows[index] ?? [], files: [], hunks: [] };
}

/** How far the scroll goes: to the end of the rows, or so far that the last hunk can stand on top. */
export function lastTop(model: DetailModel, height: number): number {
  return Math.max(0, model.total - height, model.hunks.at(-1) ?? 0);
}

const LABEL = 12;

/** `label  value`, the value wrapped beside its label. Nothing when there is no value. */
export function field(label: string, value: string | null, cells: number, tone: Tone = 'plain'): readonly Row[] {
  if (value === null || value === '') return [];
  return wrapText(value, Math.max(8, cells - LABEL - 2)).map((line, index) => [
    seg(` ${(index === 0 ? label : '').padEnd(LABEL)} `, 'dim'),
    seg(line, tone),
  ]);
}

/** A heading and the lines of a text under it; nothing when the text is empty. */
export function section(heading: string, text: string | null, cells: number): readonly Row[] {
  if (text === null || text.trim() === '') return [];
  return [
    [],
    rowOf(` ${heading}`, 'strong'),
    ...wrapText(text.trimEnd(), Math.max(8, cells - 2)).map((line) => rowOf(` ${line}`)),
  ];
}
