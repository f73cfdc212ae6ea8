import { truncate } from '../text/measure.ts';
import { fitRow, type Row, rowWidth, seg } from '../text/row.ts';

export interface FrameSpec {
  readonly title: string;
  /** Stands at the right end of the title row, e.g. `3/12`. */
  readonly note: string;
  readonly focused: boolean;
  readonly width: number;
  readonly height: number;
  readonly rows: readonly Row[];
  /** Index among `rows` of the selected one, or -1. */
  readonly selected: number;
  /** First of its column: its title row is the top border. */
  readonly first: boolean;
  /** Last of its column: draws the bottom border. */
  readonly last: boolean;
}

/** A row that is ready to be painted, and whether it is the selection bar. */
export interface FramedRow {
  readonly before: Row;
  readonly content: Row;
  readonly after: Row;
  readonly selected: boolean;
}

/** A pane with its borders, every row exactly `width` cells. A focused one has heavy lines: not colour alone. */
export function frameRows(spec: FrameSpec): readonly FramedRow[] {
  const { width, focused } = spec;
  const line = focused ? '━' : '─';
  const side = focused ? '┃' : '│';
  const tone = focused ? 'info' : 'dim';
  const [topLeft, topRight] = corner(spec);
  const note = spec.note === '' ? '' : truncate(` ${spec.note} `, Math.max(0, width - 12));
  const noteWidth = rowWidth([seg(note)]);
  const title = truncate(` ${spec.title} `, width - 4 - noteWidth);
  const fill = Math.max(0, width - 3 - rowWidth([seg(title)]) - noteWidth - (note === '' ? 0 : 1));
  const out: FramedRow[] = [
    whole([
      seg(`${topLeft}${line}`, tone),
      seg(title, focused ? 'strong' : 'plain'),
      seg(line.repeat(fill), tone),
      seg(note, 'dim'),
      seg(`${note === '' ? '' : line}${topRight}`, tone),
    ]),
  ];
  for (let index = 0; index < spec.height; index++) {
    const row = spec.rows[index];
    out.push({
      before: [seg(side, tone)],
      content: row === undefined ? [seg(' '.repeat(width - 2))] : fitRow(row, width - 2),
      after: [seg(side, tone)],
      selected: focused && index === spec.selected,
    });
  }
  if (spec.last) {
    const [left, right] = focused ? ['┗', '┛'] : ['└', '┘'];
    out.push(whole([seg(`${left}${line.repeat(width - 2)}${right}`, tone)]));
  }
  return out;
}

function corner(spec: FrameSpec): readonly [string, string] {
  if (spec.first) return spec.focused ? ['┏', '┓'] : ['┌', '┐'];
  return spec.focused ? ['┣', '┫'] : ['├', '┤'];
}

function whole(row: Row): FramedRow {
  return { before: [], content: row, after: [], selected: false };
}
