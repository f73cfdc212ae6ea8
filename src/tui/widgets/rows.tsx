import { Text } from 'ink';
import { memo } from 'react';
import { type Palette, paintRow } from '../text/palette.ts';
import { fitRow, type Row } from '../text/row.ts';
import type { FramedRow } from './frame.ts';

/** One text node for a block of rows, each exactly as wide as its box: Ink's cost goes with nodes and painted cells. */
export const PaintedText = memo(function PaintedText({ text }: { readonly text: string }) {
  return <Text wrap="truncate">{text}</Text>;
});

export function Rows({
  rows,
  cells,
  palette,
}: {
  readonly rows: readonly Row[];
  readonly cells: number;
  readonly palette: Palette;
}) {
  return <PaintedText text={rows.map((row) => paintRow(fitRow(row, cells), palette)).join('\n')} />;
}

export function Frame({ rows, palette }: { readonly rows: readonly FramedRow[]; readonly palette: Palette }) {
  const text = rows
    .map(
      (row) =>
        paintRow(row.before, palette) + paintRow(row.content, palette, row.selected) + paintRow(row.after, palette),
    )
    .join('\n');
  return <PaintedText text={text} />;
}
