import { LIST_IDS, type ListId, type PaneId } from '../state/panes.ts';

/** A pane with its border: `cells` and `height` are what is inside, without title row and sides. */
export interface PaneBox {
  readonly pane: PaneId;
  readonly cells: number;
  readonly height: number;
}

/** Columns of the body from left to right; each is a stack of panes that share their borders. */
export type Layout =
  | { readonly kind: 'too_small' }
  | {
      readonly kind: 'stack' | 'split' | 'single';
      /** A line that names the lists, where they are not all on the screen. */
      readonly tabs: boolean;
      readonly left: { readonly width: number; readonly panes: readonly PaneBox[] } | null;
      /** Also where dialogs stand; in a single column they take the only one. */
      readonly right: { readonly width: number; readonly panes: readonly PaneBox[] } | null;
      readonly bodyHeight: number;
    };

export interface LayoutInput {
  readonly columns: number;
  readonly rows: number;
  /** Rows of banners and notices, taken from the body. */
  readonly extraRows: number;
  readonly focus: PaneId;
  readonly list: ListId;
  readonly zoom: boolean;
  readonly counts: Readonly<Record<ListId, number>>;
}

const MIN_COLUMNS = 40;
const MIN_ROWS = 10;

export function layoutOf(input: LayoutInput): Layout {
  const { columns, rows, focus, list, zoom } = input;
  if (columns < MIN_COLUMNS || rows < MIN_ROWS) return { kind: 'too_small' };
  const wide = columns >= 120 && rows >= 30;
  const tabs = !wide && !zoom;
  // Header and footer take a row each; the body keeps at least a title, a row and a border.
  const bodyHeight = Math.max(3, rows - 2 - (tabs ? 1 : 0) - input.extraRows);
  if (zoom || columns < 80) {
    const pane: PaneId = focus;
    const box = stackOf(columns, bodyHeight, [pane], []);
    return { kind: 'single', tabs, left: null, right: { width: columns, panes: box }, bodyHeight };
  }
  if (!wide) {
    const width = clamp(Math.floor(columns * 0.4), 30, 52);
    const rightPanes: readonly PaneId[] = list === 'sessions' || focus === 'log' ? ['detail', 'log'] : ['detail'];
    return {
      kind: 'split',
      tabs,
      left: { width, panes: stackOf(width, bodyHeight, [list], []) },
      right: rightColumn(columns - width, bodyHeight, rightPanes, input),
      bodyHeight,
    };
  }
  const width = clamp(Math.floor(columns * 0.36), 44, 68);
  return {
    kind: 'stack',
    tabs,
    left: { width, panes: stackOf(width, bodyHeight, LIST_IDS, panelHeights(bodyHeight - LIST_IDS.length - 1, input)) },
    right: rightColumn(columns - width, bodyHeight, ['detail', 'log'], input),
    bodyHeight,
  };
}

/** The box of a pane, or null when it is not on the screen. */
export function paneBox(layout: Layout, pane: PaneId): PaneBox | null {
  if (layout.kind === 'too_small') return null;
  const boxes = [...(layout.left?.panes ?? []), ...(layout.right?.panes ?? [])];
  return boxes.find((box) => box.pane === pane) ?? null;
}

function rightColumn(width: number, height: number, panes: readonly PaneId[], input: LayoutInput) {
  const share = input.focus === 'log' || input.list === 'sessions' ? 0.55 : 0.3;
  const content = height - panes.length - 1;
  const log = panes.length === 1 ? 0 : clamp(Math.round(content * share), 3, content - 3);
  return { width, panes: stackOf(width, height, panes, panes.length === 1 ? [content] : [content - log, log]) };
}

/** Boxes of a column; without heights the only pane takes all. */
function stackOf(
  width: number,
  height: number,
  panes: readonly PaneId[],
  heights: readonly number[],
): readonly PaneBox[] {
  return panes.map((pane, index) => ({ pane, cells: width - 2, height: heights[index] ?? height - panes.length - 1 }));
}

/**
 * Rows for each of the stacked lists: the current one may take half at once, then all get one more in turn as long as
 * they have something to show, and what is left over goes to the current one.
 */
function panelHeights(rows: number, input: LayoutInput): readonly number[] {
  const wanted = LIST_IDS.map((list) => Math.max(1, input.counts[list]));
  const current = LIST_IDS.indexOf(input.list);
  const heights = LIST_IDS.map(() => 0);
  let left = rows;
  const give = (index: number, count: number): void => {
    heights[index] = (heights[index] ?? 0) + count;
    left -= count;
  };
  give(current, Math.min(Math.ceil(rows / 3), wanted[current] ?? 1, left));
  for (let changed = true; changed && left > 0; ) {
    changed = false;
    for (let index = 0; index < heights.length && left > 0; index++) {
      if ((heights[index] ?? 0) >= (wanted[index] ?? 0)) continue;
      give(index, 1);
      changed = true;
    }
  }
  give(current, left);
  return heights;
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(value, high));
}
