import type { ActionView } from '../actions/action.ts';
import { perList } from '../state/panes.ts';
import type { ScreenState } from '../state/screen-state.ts';
import { detailModel } from './detail.ts';
import type { DetailModel } from './details/detail-model.ts';
import { noticeRows } from './footer.ts';
import { bannerRows } from './header.ts';
import { layoutOf, paneBox } from './layout.ts';
import { type ListModels, selectedId } from './list-model.ts';

/** Layout, selection and detail of a state: what actions and panes both look at. */
export function viewOf(state: ScreenState, models: ListModels): ActionView {
  const { data, ui, size } = state;
  const layout = layoutOf({
    columns: size.columns,
    rows: size.rows,
    extraRows: bannerRows(data).length + noticeRows(ui.notice, size.columns).length,
    focus: ui.focus,
    list: ui.list,
    zoom: ui.zoom,
    counts: perList((list) => models(list, data, ui.filters[list]).count),
  });
  const selected = selectedId(models, data, ui, ui.list);
  let detail: { readonly model: DetailModel; readonly height: number } | null = null;
  return {
    state,
    models,
    layout,
    selected,
    detail() {
      if (detail !== null) return detail;
      const box = paneBox(layout, 'detail') ?? { cells: Math.max(1, size.columns - 2), height: 1 };
      const model = detailModel(data, ui, selected, box.cells, state.nowMs);
      const head = model.head(ui.detail.top, box.cells).length;
      detail = { model, height: Math.max(1, box.height - head) };
      return detail;
    },
  };
}
