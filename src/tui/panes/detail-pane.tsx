import { lastTop } from '../views/details/detail-model.ts';
import { frameRows } from '../widgets/frame.ts';
import { Frame } from '../widgets/rows.tsx';
import type { PaneProps } from './list-pane.tsx';

export function DetailPane({ view, box, palette, first, last }: PaneProps) {
  const { ui } = view.state;
  const { model, height } = view.detail();
  const top = Math.min(ui.detail.top, lastTop(model, height));
  const head = model.head(top, box.cells);
  const count = Math.max(0, Math.min(height, model.total - top));
  const body = Array.from({ length: count }, (_, index) => model.row(top + index, box.cells));
  const note = model.total > height ? `${Math.min(model.total, top + height)}/${model.total}` : '';
  return (
    <Frame
      palette={palette}
      cells={box.cells + 2}
      rows={frameRows({
        title: model.title,
        note,
        focused: ui.focus === 'detail' && ui.dialog === null,
        width: box.cells + 2,
        height: box.height,
        rows: [...head, ...body],
        selected: -1,
        first,
        last,
      })}
    />
  );
}
