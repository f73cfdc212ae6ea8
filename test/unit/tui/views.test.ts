import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DiffFile } from '../../../src/engine/api.ts';
import { LogBuffer } from '../../../src/tui/feeds/log-buffer.ts';
import { LIST_IDS, perList } from '../../../src/tui/state/panes.ts';
import { initialState, type ScreenData } from '../../../src/tui/state/screen-state.ts';
import { paintRow, paletteFor } from '../../../src/tui/text/palette.ts';
import { fitRow, rowText, rowWidth, seg, shiftRow, spreadRow } from '../../../src/tui/text/row.ts';
import { duration, until } from '../../../src/tui/text/when.ts';
import { approveRefusal, approveRows } from '../../../src/tui/views/dialogs/approve.ts';
import { diffIndex } from '../../../src/tui/views/diff-index.ts';
import { bannerRows, headerRow } from '../../../src/tui/views/header.ts';
import { layoutOf } from '../../../src/tui/views/layout.ts';
import { listModels, selectedIndex, windowTop } from '../../../src/tui/views/list-model.ts';
import { logRows } from '../../../src/tui/views/log.ts';
import { gates, HUMAN_PENDING, proposal, sampleDiff, sampleSnapshot } from '../../support/sample-snapshot.ts';

function dataOf(snapshot = sampleSnapshot()): ScreenData {
  return { ...initialState({ columns: 80, rows: 24 }, 0).data, snapshot };
}

describe('rows', () => {
  it('are exactly as wide as asked, with an ellipsis where something is left out', () => {
    expect(rowText(fitRow([seg('abc'), seg('def')], 8))).toBe('abcdef  ');
    expect(rowText(fitRow([seg('abc'), seg('def')], 6))).toBe('abcdef');
    expect(rowText(fitRow([seg('abc'), seg('def')], 5))).toBe('abcd…');
    expect(rowText(fitRow([seg('abc'), seg('def')], 3))).toBe('ab…');
    expect(rowText(fitRow([seg('日本'), seg('語')], 5))).toBe('日本…');
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 12 }), { maxLength: 5 }),
        fc.integer({ min: 1, max: 40 }),
        (texts, cells) => {
          expect(
            rowWidth(
              fitRow(
                texts.map((text) => seg(text)),
                cells,
              ),
            ),
          ).toBe(cells);
        },
      ),
    );
  });

  it('keep the right part whole, and move sideways by cells', () => {
    expect(rowText(spreadRow([seg('a long left part')], [seg(' +1')], 10))).toBe('a long… +1');
    expect(rowText(shiftRow([seg('ab'), seg('cdef')], 3))).toBe('def');
  });

  it('carry colours only where the terminal wants them', () => {
    const row = [seg('x', 'bad'), seg('y')];
    expect(paintRow(row, paletteFor({ TERM: 'xterm' }))).toBe('\u001b[31mx\u001b[0my');
    expect(paintRow(row, paletteFor({ TERM: 'xterm', NO_COLOR: '1' }))).not.toMatch(/\u001b\[3\d/);
    expect(paintRow(row, paletteFor({ TERM: 'dumb' }), true)).toBe('xy');
  });
});

describe('times', () => {
  it.each([
    [42_000, '42s'],
    [190_000, '3m10s'],
    [7_500_000, '2h05m'],
    [400_000_000, '4d'],
  ])('%d ms is %s', (ms, words) => {
    expect(duration(ms)).toBe(words);
  });
  it('says when a time is over', () => {
    expect(until('2026-01-01T00:00:00.000Z', Date.parse('2026-01-01T00:00:01.000Z'))).toBe('over');
  });
});

describe('layout', () => {
  const base = { extraRows: 0, focus: 'proposals', list: 'proposals', zoom: false, counts: perList(() => 5) } as const;

  it.each([
    [120, 30, 'stack'],
    [200, 50, 'stack'],
    [119, 50, 'split'],
    [200, 29, 'split'],
    [80, 24, 'split'],
    [79, 24, 'single'],
    [40, 10, 'single'],
    [39, 24, 'too_small'],
    [80, 9, 'too_small'],
  ])('%d×%d is %s', (columns, rows, kind) => {
    expect(layoutOf({ ...base, columns, rows }).kind).toBe(kind);
  });

  it('fills the body of every size exactly, whatever is focused', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 40, max: 260 }),
        fc.integer({ min: 12, max: 90 }),
        fc.constantFrom(...LIST_IDS, 'detail' as const, 'log' as const),
        fc.constantFrom(...LIST_IDS),
        fc.boolean(),
        fc.array(fc.nat(40), { minLength: 7, maxLength: 7 }),
        (columns, rows, focus, list, zoom, sizes) => {
          const counts = perList((name) => sizes[LIST_IDS.indexOf(name)] ?? 0);
          const layout = layoutOf({ columns, rows, extraRows: 0, focus, list, zoom, counts });
          if (layout.kind === 'too_small') throw new Error('it is large enough');
          const sides = [layout.left, layout.right].filter((side) => side !== null);
          expect(sides.reduce((sum, side) => sum + side.width, 0)).toBe(columns);
          for (const side of sides) {
            const height = side.panes.reduce((sum, pane) => sum + pane.height + 1, 1);
            expect(height).toBe(layout.bodyHeight);
            for (const pane of side.panes) expect(pane.height).toBeGreaterThanOrEqual(0);
          }
        },
      ),
    );
  });
});

describe('lists', () => {
  it('put what needs the operator first, then the newest', () => {
    const model = listModels()('proposals', dataOf(), '');
    expect([0, 1, 2].map((index) => model.idAt(index))).toEqual(['P-13', 'P-12', 'P-11']);
  });

  it('say what to press when they are empty', () => {
    const data = dataOf({ ...sampleSnapshot(), runs: [], tasks: [], proposals: [], sessions: [], transactions: [] });
    expect(listModels()('tasks', data, '').empty).toContain('n writes one');
    expect(listModels()('proposals', dataOf(), 'zzz').empty).toContain('Esc clears');
  });

  it('find every word of a filter', () => {
    const model = listModels()('sessions', dataOf(), 'IMPLEMENTER-1 t-7');
    expect([model.count, model.idAt(0)]).toEqual([1, 'S-29']);
  });

  it('keep the selection by id, and its place when the id is gone', () => {
    const model = listModels()('proposals', dataOf(), '');
    expect(selectedIndex(model, { id: 'P-11', index: 0 })).toBe(2);
    expect(selectedIndex(model, { id: 'P-99', index: 1 })).toBe(1);
    expect(selectedIndex(model, { id: 'P-99', index: 9 })).toBe(2);
    expect(windowTop(50, 10, 100)).toBe(45);
    expect(windowTop(99, 10, 100)).toBe(90);
  });

  it('are read once per snapshot and filter', () => {
    const models = listModels();
    const data = dataOf();
    expect(models('runs', data, '')).toBe(models('runs', data, ''));
    expect(models('runs', data, '')).not.toBe(models('runs', dataOf(), ''));
  });
});

describe('diff index', () => {
  it('has each file, hunk and line at its place', () => {
    const index = diffIndex(sampleDiff());
    const kinds = Array.from({ length: index.total }, (_, row) => index.row(row)?.kind);
    expect(kinds.slice(0, 12)).toEqual([
      'file',
      'hunk',
      'line',
      'line',
      'line',
      'line',
      'hunk',
      'line',
      'line',
      'line',
      'gap',
      'file',
    ]);
    expect(index.files).toEqual([0, 11]);
    expect(index.hunks).toEqual([1, 6, 12]);
    expect(index.place(7)).toMatchObject({ hunk: 2, hunks: 2, file: { path: 'src/users.ts' } });
    expect(index.row(-1)).toBeNull();
    expect(index.row(index.total)).toBeNull();
  });

  it('says what has no lines', () => {
    const [file] = sampleDiff();
    if (file === undefined) throw new Error('the sample has a file');
    const binary: DiffFile = {
      ...file,
      binary: true,
      hunks: [],
      renamedFrom: 'old.ts',
      newMode: '100755',
      truncated: true,
    };
    const index = diffIndex([binary]);
    const texts = Array.from({ length: index.total }, (_, row) => index.row(row)).map((row) =>
      row?.kind === 'note' ? row.text : '',
    );
    expect(texts).toEqual([
      '',
      'renamed from old.ts',
      'mode 100644 → 100755',
      'binary file, no lines to show',
      'too long to show whole: lines are left out',
    ]);
  });
});

describe('log', () => {
  it('keeps numbers while lines are dropped, and shows a line before its end came', () => {
    const buffer = new LogBuffer(3);
    buffer.append('stdout', 'a\nb\nc\nd\ne');
    expect([buffer.first, buffer.end]).toEqual([1, 5]);
    expect([0, 1, 3, 4, 5].map((number) => buffer.line(number)?.text ?? null)).toEqual([null, 'b', 'd', 'e', null]);
    buffer.append('stdout', 'f\n');
    expect(buffer.line(4)?.text).toBe('ef');
  });

  it('bounds a line that never ends', () => {
    const buffer = new LogBuffer(10);
    for (let part = 0; part < 100; part++) buffer.append('stdout', 'x'.repeat(1_000));
    expect(buffer.line(0)?.text.length).toBe(4_000);
  });

  it('shows the end while it is followed and marks errors', () => {
    const buffer = new LogBuffer(100);
    buffer.append('stdout', 'one\ntwo\n');
    buffer.append('stderr', 'three\n');
    const log = { sessionId: 'S-1', buffer, version: 1, ended: false, problem: null };
    expect(logRows(log, { top: null, left: 0 }, 2).map(rowText)).toEqual([' two', '!three']);
    expect(logRows(log, { top: 0, left: 0 }, 2).map(rowText)).toEqual([' one', ' two']);
  });
});

describe('header', () => {
  it('gives up parts from the right, never what needs the operator', () => {
    expect(rowText(headerRow(dataOf(), 120))).toMatch(
      /Roundtable {2}shop-api {2}main@4f2c1e9 {2}run R-3 active {2}1\/2 sessions {2}docker 27\.1 +● 2 need you $/,
    );
    expect(rowText(headerRow(dataOf(), 40)).trim()).toMatch(/^shop-api {2}main@4f2c1e9 +● 2 need you$/);
    for (const cells of [40, 57, 80, 200]) expect(rowWidth(headerRow(dataOf(), cells))).toBe(cells);
  });

  it('tells lasting problems in words', () => {
    const snapshot = sampleSnapshot();
    const engine = {
      ...snapshot.engine,
      role: 'client' as const,
      containerEngineProblem: 'docker does not answer',
      configProblem: 'config.yaml:3:1 unknown key',
    };
    const text = bannerRows({ ...dataOf({ ...snapshot, engine }), stale: 'store is busy' }).map(rowText);
    expect(text).toEqual([
      ' ! what you see may be old: store is busy',
      ' i engine owned by pid 4242 (roundtable): this screen is a client of it',
      ' ! container engine: docker does not answer',
      ' ! configuration refused, the old one stays: config.yaml:3:1 unknown key',
    ]);
  });
});

describe('approval', () => {
  it('is refused for failed gates with the remedy, and for a revision that is not the current one', () => {
    expect(approveRefusal(dataOf(), 'P-12', 2)).toBeNull();
    expect(approveRefusal(dataOf(), 'P-13', 1)).toEqual({
      text: 'tests does not hold',
      remedy: 'press m and send it back',
    });
    expect(approveRefusal(dataOf(), 'P-12', 1)?.text).toBe('it has a new revision r2, and you looked at r1');
    expect(approveRefusal(dataOf(), 'P-11', 1)?.text).toBe('it is accepted');
  });

  it('says what will happen', () => {
    const text = approveRows(dataOf(), 'P-12', 2, 70).map(rowText).join('\n');
    expect(text).toContain('r2 is approved and applied to main: 2 files, +26 −3');
    const waiting = proposal('P-12', {
      currentRevision: 2,
      gates: gates({ ...HUMAN_PENDING, tests: { status: 'pending', detail: 'npm test is running', remedy: '' } }),
    });
    const pending = dataOf({ ...sampleSnapshot(), proposals: [waiting] });
    expect(approveRows(pending, 'P-12', 2, 200).map(rowText).join('\n')).toContain('when tests holds too');
  });
});
