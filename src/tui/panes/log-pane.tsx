import { logRows, logTitle } from '../views/log.ts';
import { plural } from '../views/words.ts';
import { frameRows } from '../widgets/frame.ts';
import { Frame } from '../widgets/rows.tsx';
import type { PaneProps } from './list-pane.tsx';

export function LogPane({ view, box, palette, first, last }: PaneProps) {
  const { data, ui } = view.state;
  return (
    <Frame
      palette={palette}
      cells={box.cells + 2}
      rows={frameRows({
        title: logTitle(data.log, ui.log),
        note: data.log === null ? '' : plural(data.log.buffer.end, 'line'),
        focused: ui.focus === 'log' && ui.dialog === null,
        width: box.cells + 2,
        height: box.height,
        rows: logRows(data.log, ui.log, box.height),
        selected: -1,
        first,
        last,
      })}
    />
  );
}
