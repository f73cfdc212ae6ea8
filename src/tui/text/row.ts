import { cellWidth, fitCells, gridText, sliceCells } from './measure.ts';

/** How a piece of text is meant, not how it looks: the palette decides, and text alone must carry the meaning. */
export type Tone =
  | 'plain'
  | 'dim'
  | 'strong'
  | 'good'
  | 'bad'
  | 'warn'
  | 'info'
  | 'added'
  | 'removed'
  | 'hunk'
  | 'inverse';

export interface Segment {
  readonly text: string;
  readonly tone: Tone;
}

/** One line of a view, as pieces with a tone. Any text may stand in it: it is made inert when it is measured or cut. */
export type Row = readonly Segment[];

export function seg(text: string, tone: Tone = 'plain'): Segment {
  return { text, tone };
}

export function rowOf(text: string, tone: Tone = 'plain'): Row {
  return [seg(text, tone)];
}

export function rowWidth(row: Row): number {
  return row.reduce((sum, piece) => sum + cellWidth(piece.text), 0);
}

/** The row at exactly `cells` cells: the piece that doesn't fit ends in `…`, what is missing is spaces. */
export function fitRow(row: Row, cells: number): Row {
  const out: Segment[] = [];
  let left = cells;
  for (const [index, piece] of row.entries()) {
    const text = gridText(piece.text);
    const width = cellWidth(text);
    if (width < left || (width === left && index === row.length - 1)) {
      if (text !== '') out.push({ text, tone: piece.tone });
      left -= width;
      continue;
    }
    const rest = width === left && row.slice(index + 1).every((other) => other.text === '');
    out.push({ text: rest ? text : fitCells(`${text} `, left), tone: piece.tone });
    return out;
  }
  if (left > 0) out.push({ text: ' '.repeat(left), tone: 'plain' });
  return out;
}

/** Left part and right part at the two ends of `cells` cells; the right one stays whole as long as it fits. */
export function spreadRow(left: Row, right: Row, cells: number): Row {
  const width = rowWidth(right);
  if (width >= cells) return fitRow(right, cells);
  return [...fitRow(left, cells - width), ...right];
}

/** The row moved `cells` cells to the left, for sideways scrolling. */
export function shiftRow(row: Row, cells: number): Row {
  if (cells <= 0) return row;
  const out: Segment[] = [];
  let skip = cells;
  for (const piece of row) {
    const width = cellWidth(piece.text);
    if (width > skip) out.push({ text: sliceCells(piece.text, skip, width), tone: piece.tone });
    skip = Math.max(0, skip - width);
  }
  return out;
}

export function rowText(row: Row): string {
  return row.map((piece) => piece.text).join('');
}
