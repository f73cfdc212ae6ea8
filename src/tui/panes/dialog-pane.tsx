import type { DialogState, ScreenData } from '../state/screen-state.ts';
import type { Palette } from '../text/palette.ts';
import { rowOf } from '../text/row.ts';
import { dialogView } from '../views/dialogs/dialog.ts';
import { frameRows } from '../widgets/frame.ts';
import { Frame } from '../widgets/rows.tsx';

export interface DialogPaneProps {
  readonly dialog: DialogState;
  readonly data: ScreenData;
  readonly width: number;
  readonly height: number;
  readonly palette: Palette;
}

/** A dialog stands where the detail was, so that the lists stay in sight; it takes all keys until it is closed. */
export function DialogPane({ dialog, data, width, height, palette }: DialogPaneProps) {
  const inner = height - 2;
  const { title, rows, top } = dialogView(dialog, data, width - 2);
  const from = Math.max(0, Math.min(top, rows.length - inner));
  const more = rows.length - from - inner;
  const shown = rows.slice(from, from + inner);
  if (more > 0) shown[inner - 1] = rowOf(` … ${more + 1} more rows: j moves down`, 'dim');
  return (
    <Frame
      palette={palette}
      cells={width}
      rows={frameRows({
        title,
        note: '',
        focused: true,
        width,
        height: inner,
        rows: shown,
        selected: -1,
        first: true,
        last: true,
      })}
    />
  );
}
