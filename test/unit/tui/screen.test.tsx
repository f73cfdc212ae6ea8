import stringWidth from 'string-width';
import { afterEach, describe, expect, it } from 'vitest';
import { App } from '../../../src/tui/app.tsx';
import { valueStore } from '../../../src/tui/store.ts';
import { paletteFor } from '../../../src/tui/text/palette.ts';
import type { WatchState } from '../../../src/tui/views/watch.ts';
import { WatchApp } from '../../../src/tui/watch-app.tsx';
import { FakeEngine } from '../../support/fake-engine.ts';
import { type RenderedScreen, renderScreen } from '../../support/render-screen.tsx';
import { proposal, sampleDiff, sampleSnapshot, session, task } from '../../support/sample-snapshot.ts';
import { driveScreen, type ScreenDriver } from '../../support/screen-driver.ts';

let driver: ScreenDriver | null = null;
let screen: RenderedScreen | null = null;
afterEach(() => {
  screen?.close();
  driver?.close();
  driver = null;
  screen = null;
});

async function show(columns: number, rows: number, engine = new FakeEngine()) {
  driver = await driveScreen(engine, { columns, rows });
  screen = renderScreen(
    <App store={driver.store} models={driver.models} palette={paletteFor({ TERM: 'xterm' })} />,
    columns,
    rows,
  );
  return { driver, screen };
}

/** Every row fits, all borders of a column stand under each other, and nothing is left of a frame's own corners. */
function expectAligned(rows: readonly string[], columns: number, height: number): void {
  expect(rows.length).toBeLessThanOrEqual(height);
  for (const row of rows) expect(stringWidth(row)).toBeLessThanOrEqual(columns);
  const framed = rows.filter((row) => /[│┃├┣┌┏└┗]/.test(row[0] ?? ''));
  expect(framed.length).toBeGreaterThan(2);
  for (const row of framed) {
    expect(stringWidth(row)).toBe(columns);
    expect(row.at(-1)).toMatch(/[│┃┤┫┐┓┘┛]/);
  }
}

describe('the screen at fixed sizes', () => {
  it.each([
    [80, 24],
    [120, 30],
    [200, 50],
    [40, 12],
    [60, 20],
  ])('%d×%d is aligned, with header, focus and keys', async (columns, rows) => {
    const { screen: shown } = await show(columns, rows);
    const frame = await shown.until((lines) => lines.some((line) => line.includes('P-12')));
    expectAligned(frame, columns, rows);
    expect(frame).toHaveLength(rows);
    expect(frame[0]).toMatch(/shop-api.*● 2 need you/);
    expect(frame.join('\n')).toMatch(/[┏┣]━ \[3\] Proposals ━/);
    expect(frame.at(-1)).toMatch(/\? help {2}q quit/);
  });

  it('says that 30×8 is too small', async () => {
    const { screen: shown } = await show(30, 8);
    expect(
      shown
        .rows()
        .slice(0, 2)
        .map((row) => row.trim()),
    ).toEqual(['too small:', '40×10 or more']);
  });

  it('shows the diff, gates and log of the selected proposal on a wide screen', async () => {
    const engine = new FakeEngine();
    engine.appendLog('S-30', 'stdout', 'running npm test\n');
    const { driver: keys, screen: shown } = await show(120, 30, engine);
    keys.press('j');
    const frame = await shown.until((lines) => lines.some((line) => line.includes('return page(rows, cursor)')));
    const text = frame.join('\n');
    expect(text).toContain('Gates base ✓ claims ✓ scope ✓ secrets ✓ security ✓ tests ✓');
    expect(text).toMatch(/41 \+ {3}return page\(rows, cursor\);/);
    expect(text).toMatch(/41 - {3}return rows;/);
    await shown.until((lines) => lines.some((line) => line.includes('running npm test')));
  });

  it('keeps every dialog inside the frame', async () => {
    const { driver: keys, screen: shown } = await show(80, 24);
    for (const [key, title] of [
      ['a', 'Approve P-13'],
      ['x', 'Reject P-13'],
      ['m', 'Send P-13'],
      ['n', 'New task'],
      ['?', 'Keys'],
      ['q', 'Quit'],
      ['7R', 'Roll back TX-5'],
      ['4s', 'Stop S-31'],
    ]) {
      keys.press(key ?? '');
      expectAligned(await shown.until((lines) => lines.some((line) => line.includes(title ?? ''))), 80, 24);
      keys.press('\u001b');
      await shown.until((lines) => !lines.some((line) => line.includes(title ?? '')));
    }
  });

  it('says what to press where there is nothing', async () => {
    const sample = sampleSnapshot();
    const empty = new FakeEngine({
      ...sample,
      runs: [],
      tasks: [],
      proposals: [],
      sessions: [],
      claims: [],
      transactions: [],
      attention: [],
    });
    const { screen: shown } = await show(120, 30, empty);
    const frame = await shown.until((lines) => lines.some((line) => line.includes('nothing needs you')));
    expect(frame.join('\n')).toContain('no run yet: n makes a task and its run');
    expect(frame.join('\n')).toContain('no task yet: n writes one');
  });

  it('wraps a long error and says how to mend it', async () => {
    const { driver: keys, screen: shown } = await show(80, 24);
    keys.store.update((state) => ({
      ...state,
      ui: {
        ...state.ui,
        notice: { level: 'error', text: `refused: ${'long words '.repeat(12)}`, remedy: 'commit or stash' },
      },
    }));
    const frame = await shown.until((lines) => lines.some((line) => line.includes('→ commit or stash')));
    expect(frame).toHaveLength(24);
    expectAligned(frame, 80, 24);
  });
});

describe('hostile text', () => {
  const evil = '\u001b[2J\u001b]52;c;aGFja2Vk\u0007\u202e\r\b\u009b31m👩‍👩‍👧\u0000';

  it('never reaches the terminal, from titles, logs, diffs, reasons or events', async () => {
    const sample = sampleSnapshot();
    const engine = new FakeEngine({
      ...sample,
      project: { ...sample.project, name: `p${evil}` },
      runs: sample.runs.map((run) => ({ ...run, goal: `goal ${evil}` })),
      tasks: [task('T-8', { title: `title ${evil}`, body: `body ${evil}`, statusReason: evil })],
      proposals: [proposal('P-12', { title: `proposal ${evil}`, currentRevision: 2, statusReason: evil })],
      sessions: [session('S-30', { statusReason: evil, model: evil })],
      attention: [],
    });
    const [file] = sampleDiff();
    if (file === undefined) throw new Error('the sample has a file');
    const [hunk] = file.hunks;
    if (hunk === undefined) throw new Error('the sample has a hunk');
    engine.diffs.set('P-12', [
      {
        ...file,
        path: `src/${evil}`,
        hunks: [
          {
            ...hunk,
            header: `@@ ${evil}`,
            lines: [{ kind: 'added', text: `code ${evil}`, oldLine: null, newLine: 1 }],
          },
        ],
      },
    ]);
    engine.change(`type${evil}`, 'task', evil);
    engine.appendLog('S-30', 'stdout', `log ${evil}\n`);
    engine.appendLog('S-30', 'stderr', `err ${evil}\n`);
    const { driver: keys, screen: shown } = await show(200, 50, engine);
    for (const list of ['1', '2', '3', '4', '6']) {
      keys.press(list);
      const frame = await shown.until((lines) => lines.some((line) => line.includes(`━ [${list}]`)));
      // The palette's own codes are the only ones in a frame.
      const rest = shown.frame().replace(/\u001b\[(?:\d+(?:;\d+)*)?m/g, '');
      expect(rest).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200d]/);
      expectAligned(frame, 200, 50);
    }
    keys.press('3');
    await shown.until((lines) => lines.some((line) => line.includes('code ␛[2J␛]52;c;aGFja2Vk␇<U+202E>')));
    await shown.until((lines) => lines.some((line) => line.includes('!␍␈')));
  });

  it('keeps wide and joined characters aligned', async () => {
    const sample = sampleSnapshot();
    const titles = [
      '日本語のとても長い題名がここにあります',
      '👩‍👩‍👧👍🏽❤️🇩🇪 emoji',
      'क्षि नमस्ते',
      'e\u0301\u0301\u0301 accents',
    ];
    const tasks = titles.map((title, index) => task(`T-${index}`, { title }));
    const { driver: keys, screen: shown } = await show(
      120,
      30,
      new FakeEngine({ ...sample, tasks, proposals: [], attention: [] }),
    );
    keys.press('2');
    expectAligned(await shown.until((lines) => lines.some((line) => line.includes('━ [2]'))), 120, 30);
  });
});

describe('watch', () => {
  it.each([
    [30, 8],
    [40, 20],
    [90, 40],
  ])('%d×%d shows what waits and the newest events', async (columns, rows) => {
    const engine = new FakeEngine();
    for (let number = 1; number <= 100; number++) engine.change('task.noted', 'task', `T-${number}`);
    const store = valueStore<WatchState>({
      snapshot: engine.snapshot,
      stale: null,
      runId: null,
      events: engine.events,
      back: 0,
      size: { columns, rows },
      nowMs: 0,
    });
    screen = renderScreen(<WatchApp store={store} palette={paletteFor({})} />, columns, rows);
    const frame = screen.rows();
    expect(frame).toHaveLength(rows);
    expectAligned(frame, columns, rows);
    expect(frame.join('\n')).toContain('2 need you');
    expect(frame.join('\n')).toContain('T-100');
    store.close();
  });
});
