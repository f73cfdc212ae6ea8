import { LIST_IDS, LIST_TITLES, listDigit } from '../state/panes.ts';
import type { UiState } from '../state/screen-state.ts';
import { fitRow, type Row, type Segment, seg } from '../text/row.ts';

/** `1 Runs [2 Tasks] 3 Proposals …`: brackets mark the current list. Short names where the line is too narrow. */
export function tabRow(ui: UiState, cells: number): Row {
  const long = LIST_IDS.reduce((sum, list) => sum + LIST_TITLES[list].length + 4, 0) <= cells;
  const pieces: Segment[] = [];
  for (const list of LIST_IDS) {
    const current = list === ui.list;
    const name = long || current ? ` ${LIST_TITLES[list]}` : cells < 60 ? '' : ` ${LIST_TITLES[list].slice(0, 3)}`;
    const text = `${listDigit(list)}${name}`;
    pieces.push(current ? seg(`[${text}]`, 'strong') : seg(` ${text} `, 'dim'));
  }
  return fitRow(pieces, cells);
}
