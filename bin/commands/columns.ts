import { sanitizeLine } from '../../src/tui/text/sanitize.ts';

/** Lines of left-aligned columns under a heading. Cells are made inert first, so that widths are those of what is printed. */
export function columns(heading: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const cells = [heading, ...rows].map((row) => row.map(sanitizeLine));
  const widths = heading.map((_, column) => Math.max(...cells.map((row) => [...(row[column] ?? '')].length)));
  return cells.map((row) =>
    row
      .map((cell, column) =>
        column === row.length - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - [...cell].length),
      )
      .join('  ')
      .trimEnd(),
  );
}
