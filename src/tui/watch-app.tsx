import { Box } from 'ink';
import { useSyncExternalStore } from 'react';
import type { Palette } from './text/palette.ts';
import { fitRow, rowOf, seg } from './text/row.ts';
import { type WatchState, watchEvents, watchHeader, watchSessions } from './views/watch.ts';
import { frameRows } from './widgets/frame.ts';
import { Frame, Rows } from './widgets/rows.tsx';

export interface WatchAppProps {
  readonly store: { readonly getSnapshot: () => WatchState; readonly subscribe: (listener: () => void) => () => void };
  readonly palette: Palette;
}

/** What needs the operator, live sessions and the event tail in one narrow column. */
export function WatchApp({ store, palette }: WatchAppProps) {
  const state = useSyncExternalStore(store.subscribe, store.getSnapshot);
  const { columns, rows } = state.size;
  if (columns < 30 || rows < 6) {
    return (
      <Rows rows={[rowOf('too small:'), rowOf('30×6 or more')].slice(0, rows)} cells={columns} palette={palette} />
    );
  }
  const header = watchHeader(state).slice(0, Math.max(1, rows - 5));
  const all = watchSessions(state, columns - 2);
  const shown = all.slice(0, Math.max(0, Math.min(all.length, Math.floor((rows - header.length - 4) / 3))));
  const sessions = shown.length === 0 ? 0 : shown.length + 1;
  const height = Math.max(1, rows - header.length - sessions - 3);
  const spec = { note: '', focused: false, width: columns, selected: -1 };
  const position = state.back === 0 ? 'following' : `${state.back} back, G follows`;
  return (
    <Box width={columns} height={rows} flexDirection="column" overflow="hidden">
      <Rows rows={header} cells={columns} palette={palette} />
      {sessions > 0 && (
        <Frame
          palette={palette}
          cells={columns}
          rows={frameRows({
            ...spec,
            title: 'Sessions',
            note: String(all.length),
            height: shown.length,
            rows: shown,
            first: true,
            last: false,
          })}
        />
      )}
      <Frame
        palette={palette}
        cells={columns}
        rows={frameRows({
          ...spec,
          title: 'Events',
          note: position,
          height,
          rows:
            state.events.length === 0
              ? [rowOf(' nothing has happened yet', 'dim')]
              : watchEvents(state, height, columns - 2),
          first: sessions === 0,
          last: true,
        })}
      />
      <Rows
        rows={[
          fitRow(
            [seg(' k', 'strong'), seg(' up '), seg(' j', 'strong'), seg(' down '), seg(' q', 'strong'), seg(' quit')],
            columns,
          ),
        ]}
        cells={columns}
        palette={palette}
      />
    </Box>
  );
}
