import type { ActionView } from '../actions/action.ts';
import { LIST_TITLES, type ListId, listDigit } from '../state/panes.ts';
import { wrapText } from '../text/measure.ts';
import type { Palette } from '../text/palette.ts';
import { type Row, rowOf } from '../text/row.ts';
import type { PaneBox } from '../views/layout.ts';
import { selectedIndex, windowTop } from '../views/list-model.ts';
import { frameRows } from '../widgets/frame.ts';
import { Frame } from '../widgets/rows.tsx';

export interface PaneProps {
  readonly view: ActionView;
  readonly box: PaneBox;
  readonly palette: Palette;
  readonly first: boolean;
  readonly last: boolean;
}

export function ListPane({ view, box, palette, first, last, list }: PaneProps & { readonly list: ListId }) {
  const { data, ui, nowMs } = view.state;
  const model = view.models(list, data, ui.filters[list]);
  const selected = selectedIndex(model, ui.selections[list]);
  const top = windowTop(selected, box.height, model.count);
  const rows: Row[] = [];
  for (let index = top; index < Math.min(model.count, top + box.height); index++) {
    rows.push(model.row(index, box.cells, index === selected, nowMs));
  }
  if (model.count === 0 && data.snapshot !== null) {
    for (const line of wrapText(model.empty, box.cells - 1)) rows.push(rowOf(` ${line}`, 'dim'));
  }
  const filter = ui.filters[list] === '' ? '' : ` /${ui.filters[list]}`;
  const note = model.count === 0 ? '' : ui.list === list ? `${selected + 1}/${model.count}` : String(model.count);
  return (
    <Frame
      palette={palette}
      cells={box.cells + 2}
      rows={frameRows({
        title: `[${listDigit(list)}] ${LIST_TITLES[list]}${filter}`,
        note,
        focused: ui.focus === list && ui.dialog === null,
        width: box.cells + 2,
        height: box.height,
        rows,
        selected: selected - top,
        first,
        last,
      })}
    />
  );
}
