import { Box } from 'ink';
import { useSyncExternalStore } from 'react';
import type { ActionView } from './actions/action.ts';
import { DetailPane } from './panes/detail-pane.tsx';
import { DialogPane } from './panes/dialog-pane.tsx';
import { ListPane } from './panes/list-pane.tsx';
import { LogPane } from './panes/log-pane.tsx';
import type { ScreenStore } from './store.ts';
import type { Palette } from './text/palette.ts';
import { rowOf } from './text/row.ts';
import { footerRow, noticeRows } from './views/footer.ts';
import { bannerRows, headerRow } from './views/header.ts';
import type { PaneBox } from './views/layout.ts';
import type { ListModels } from './views/list-model.ts';
import { tabRow } from './views/tabs.ts';
import { viewOf } from './views/view.ts';
import { Rows } from './widgets/rows.tsx';

export interface AppProps {
  readonly store: ScreenStore;
  readonly models: ListModels;
  readonly palette: Palette;
}

/** The whole screen, from one state. It dispatches nothing: keys are read beside Ink and act on the store. */
export function App({ store, models, palette }: AppProps) {
  const state = useSyncExternalStore(store.subscribe, store.getSnapshot);
  const view = viewOf(state, models);
  const { layout } = view;
  const { columns, rows } = state.size;
  if (layout.kind === 'too_small') {
    return (
      <Rows
        rows={[rowOf('too small:'), rowOf('40×10 or more'), rowOf('q quits')].slice(0, rows)}
        cells={columns}
        palette={palette}
      />
    );
  }
  const { data, ui } = state;
  // Empty panes would only delay the first useful frame, which is a moment away.
  if (data.snapshot === null) {
    const waiting = [headerRow(data, columns), ...bannerRows(data)];
    return <Rows rows={waiting} cells={columns} palette={palette} />;
  }
  const banners = bannerRows(data);
  const notices = noticeRows(ui.notice, columns);
  return (
    <Box width={columns} height={rows} flexDirection="column" overflow="hidden">
      <Rows
        rows={[headerRow(data, columns), ...banners, ...(layout.tabs ? [tabRow(ui, columns)] : [])]}
        cells={columns}
        palette={palette}
      />
      <Box height={layout.bodyHeight} width={columns} flexShrink={0}>
        {layout.left !== null && (
          <Column view={view} palette={palette} width={layout.left.width} panes={layout.left.panes} />
        )}
        {layout.right !== null &&
          (ui.dialog === null ? (
            <Column view={view} palette={palette} width={layout.right.width} panes={layout.right.panes} />
          ) : (
            <DialogPane
              dialog={ui.dialog}
              data={data}
              width={layout.right.width}
              height={layout.bodyHeight}
              palette={palette}
            />
          ))}
      </Box>
      <Rows rows={[...notices, footerRow(view, columns)]} cells={columns} palette={palette} />
    </Box>
  );
}

interface ColumnProps {
  readonly view: ActionView;
  readonly palette: Palette;
  readonly width: number;
  readonly panes: readonly PaneBox[];
}

function Column({ view, palette, width, panes }: ColumnProps) {
  return (
    <Box flexDirection="column" width={width} flexShrink={0}>
      {panes.map((box, index) => {
        const props = { view, box, palette, first: index === 0, last: index === panes.length - 1 };
        if (box.pane === 'detail') return <DetailPane key={box.pane} {...props} />;
        if (box.pane === 'log') return <LogPane key={box.pane} {...props} />;
        return <ListPane key={box.pane} {...props} list={box.pane} />;
      })}
    </Box>
  );
}
