import type { ActionView } from '../actions/action.ts';
import { ACTIONS } from '../actions/actions.ts';
import { bindingsOf } from '../keymap/bindings.ts';
import type { Notice } from '../state/screen-state.ts';
import { wrapText } from '../text/measure.ts';
import { fitRow, type Row, rowOf, rowWidth, type Segment, seg } from '../text/row.ts';
import { fieldText } from '../text/text-field.ts';

/** Keys of the focused pane that can act now, as many as fit; help and quit always. What is under way stands first. */
export function footerRow(view: ActionView, cells: number): Row {
  const { ui } = view.state;
  if (ui.filtering !== null) {
    return fitRow(
      [
        seg(' / ', 'strong'),
        seg(fieldText(ui.filtering.field)),
        seg(' ', 'inverse'),
        seg('  ↵', 'strong'),
        seg(' keep  '),
        seg('Esc', 'strong'),
        seg(' as before'),
      ],
      cells,
    );
  }
  if (ui.dialog !== null) return fitRow([seg(' Esc', 'strong'), seg(' closes the dialog')], cells);
  const end: Row = [seg(' ?', 'strong'), seg(' help '), seg(' q', 'strong'), seg(' quit ')];
  const busy: Row = ui.busy.length === 0 ? [] : [seg(` … ${ui.busy.join(', ')} `, 'warn')];
  const room = cells - rowWidth(end) - rowWidth(busy);
  const out: Segment[] = [];
  let used = 0;
  for (const binding of bindingsOf(ui.focus)) {
    if (binding.hint !== true || binding.action === 'help' || binding.action === 'quit') continue;
    if (ACTIONS[binding.action].unavailable?.(view) != null) continue;
    const pair = [seg(` ${binding.show}`, 'strong'), seg(` ${binding.label} `)];
    const width = rowWidth(pair);
    if (used + width > room) continue;
    out.push(...pair);
    used += width;
  }
  return fitRow([...busy, ...out, ...end], cells);
}

/** What went wrong and how to mend it, or what was done. Errors wrap, so that they can be read whole. */
export function noticeRows(notice: Notice | null, cells: number): readonly Row[] {
  if (notice === null) return [];
  if (notice.level === 'done') return [fitRow([seg(' ✓ ', 'good'), seg(notice.text)], cells)];
  if (notice.level === 'info') return [fitRow([seg(' · ', 'info'), seg(notice.text)], cells)];
  const text = wrapText(notice.text, cells - 4, 3).map((line, index) =>
    rowOf(` ${index === 0 ? '✗' : ' '} ${line}`, 'bad'),
  );
  const remedy = notice.remedy === '' ? [] : wrapText(`${notice.remedy} (Esc dismisses this)`, cells - 4, 3);
  return [...text, ...remedy.map((line, index) => rowOf(` ${index === 0 ? '→' : ' '} ${line}`))];
}
