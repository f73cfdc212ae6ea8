import { createElement, memo } from 'react';
import { type Palette, paintRow } from '../text/palette.ts';
import { fitRow, type Row } from '../text/row.ts';
import type { FramedRow } from './frame.ts';

interface PaintedTextProps {
  readonly text: string;
  readonly cells: number;
  readonly height: number;
}

/**
 * One text node for a block of rows, each exactly as wide as its box: Ink's cost goes with nodes and painted cells. It is
 * the element behind Ink's `<Text>`, because only so it can have a fixed size: a text without one is measured, and Ink
 * keeps every text that it ever measured, which for a log is a leak of everything that was ever on the screen.
 */
const PaintedText = memo(function PaintedText({ text, cells, height }: PaintedTextProps) {
  return createElement('ink-text', { style: { width: cells, height, flexShrink: 0, textWrap: 'truncate' } }, text);
});

export interface RowsProps {
  readonly rows: readonly Row[];
  readonly cells: number;
  readonly palette: Palette;
}

export function Rows({ rows, cells, palette }: RowsProps) {
  const text = rows.map((row) => paintRow(fitRow(row, cells), palette)).join('\n');
  return <PaintedText text={text} cells={cells} height={rows.length} />;
}

export interface FrameProps {
  readonly rows: readonly FramedRow[];
  readonly cells: number;
  readonly palette: Palette;
}

/** `rows` are exactly `cells` cells wide already. */
export function Frame({ rows, cells, palette }: FrameProps) {
  const text = rows
    .map(
      (row) =>
        paintRow(row.before, palette) + paintRow(row.content, palette, row.selected) + paintRow(row.after, palette),
    )
    .join('\n');
  return <PaintedText text={text} cells={cells} height={rows.length} />;
}
