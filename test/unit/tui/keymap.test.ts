import { describe, expect, it } from 'vitest';
import { ACTIONS } from '../../../src/tui/actions/actions.ts';
import { bindingsOf, findBinding, PANE_BINDINGS, SHARED_BINDINGS } from '../../../src/tui/keymap/bindings.ts';
import type { PaneId } from '../../../src/tui/state/panes.ts';
import { rowText } from '../../../src/tui/text/row.ts';
import { helpRows } from '../../../src/tui/views/dialogs/help.ts';

const PANES = Object.keys(PANE_BINDINGS) as PaneId[];

describe('key maps', () => {
  it.each(PANES)('no key means two things in %s', (pane) => {
    const keys = bindingsOf(pane).flatMap((binding) => binding.keys);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('every action can be reached by a key', () => {
    const bound = new Set(PANES.flatMap((pane) => bindingsOf(pane).map((binding) => binding.action)));
    expect([...bound].sort()).toEqual(Object.keys(ACTIONS).sort());
  });

  it('finds the pane’s own key before the shared one', () => {
    expect(findBinding('detail', ']')?.action).toBe('next_hunk');
    expect(findBinding('runs', ']')).toBeNull();
    expect(findBinding('log', 'q')?.action).toBe('quit');
  });

  it.each(PANES)('help for %s names every key that works there', (pane) => {
    const text = helpRows(pane, 80).map(rowText).join('\n');
    for (const binding of bindingsOf(pane)) expect(text).toContain(`${binding.show} `);
    for (const binding of SHARED_BINDINGS) expect(text).toContain(binding.label);
  });
});
