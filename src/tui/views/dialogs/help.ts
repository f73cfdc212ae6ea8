import { type Binding, PANE_BINDINGS, SHARED_BINDINGS } from '../../keymap/bindings.ts';
import { isList, LIST_TITLES, type PaneId } from '../../state/panes.ts';
import { fitCells } from '../../text/measure.ts';
import { type Row, rowOf, seg } from '../../text/row.ts';

/** The keys of a pane and then the shared ones, made from the key maps; in two columns where there is room. */
export function helpRows(pane: PaneId, cells: number): readonly Row[] {
  const name = isList(pane) ? LIST_TITLES[pane] : pane === 'detail' ? 'Detail' : 'Log';
  const shared = SHARED_BINDINGS.filter((binding) => !PANE_BINDINGS[pane].some((own) => own.action === binding.action));
  return [
    rowOf(` In ${name}`, 'strong'),
    ...table(PANE_BINDINGS[pane], cells),
    [],
    rowOf(' Everywhere', 'strong'),
    ...table(shared, cells),
    [],
    [seg(' Esc', 'strong'), seg(' closes this')],
  ];
}

const COLUMN = 34;

function table(bindings: readonly Binding[], cells: number): readonly Row[] {
  const columns = Math.max(1, Math.min(3, Math.floor((cells - 1) / COLUMN)));
  const height = Math.ceil(bindings.length / columns);
  return Array.from({ length: height }, (_, line) =>
    Array.from({ length: columns }, (_unused, column) => bindings[line + column * height]).flatMap((binding) =>
      binding === undefined
        ? []
        : [seg(` ${fitCells(binding.show, 7)}`, 'info'), seg(fitCells(binding.label, COLUMN - 8))],
    ),
  );
}
