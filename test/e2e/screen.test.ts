import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bundleEntry } from '../support/bundle.ts';
import { type PtySession, startInPty } from '../support/pty.ts';

let dir: string;
let entry: string;
let session: PtySession | null = null;
let count = 0;

beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'rt-screen-'));
  entry = await bundleEntry('test/support/screen-entry.ts', path.join(dir, 'bundle'));
});
afterEach(async () => {
  await session?.close();
  session = null;
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const WAIT_MS = 30_000;
const ESC = '\u001b';

interface Started {
  readonly pty: PtySession;
  readonly report: () => Promise<readonly Record<string, unknown>[]>;
}

function start(cols: number, rows: number, env: Record<string, string> = {}, mode = 'screen'): Started {
  const file = path.join(dir, `report-${count++}`);
  session = startInPty({
    file: process.execPath,
    args: [entry, mode],
    cols,
    rows,
    env: { TZ: 'UTC', RT_REPORT: file, ...env },
  });
  return { pty: session, report: () => readReport(file) };
}

async function readReport(file: string): Promise<readonly Record<string, unknown>[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function reported(
  read: Started['report'],
  wanted: (row: Record<string, unknown>) => boolean,
): Promise<Record<string, unknown>> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const row = (await read()).find(wanted);
    if (row !== undefined) return row;
    if (performance.now() > deadline) throw new Error(`not reported; there is ${JSON.stringify(await read())}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe.each([
  [80, 24],
  [200, 50],
])('a review on a terminal of %d×%d', (cols, rows) => {
  it('reads a diff, approves it, sees it applied, rolls it back and quits', async () => {
    const { pty, report } = start(cols, rows, { RT_LIVE: '0' });
    await pty.waitFor('● 2 need you', WAIT_MS);
    pty.press('j');
    await pty.waitFor('▸P-12', WAIT_MS);
    await pty.waitFor('hunk 1/2', WAIT_MS);
    const started = pty.raw().length;
    pty.press('\r]]');
    await pty.waitFor(/80 \+ {3}return total\(\);/, WAIT_MS);
    await pty.waitFor('┏━ P-12 r2 · Add cursor pagination', WAIT_MS);
    pty.press('a');
    await pty.waitFor('Approve P-12 r2', WAIT_MS);
    await pty.waitFor('r2 is approved and applied to main', WAIT_MS);
    pty.press('y');
    await pty.waitFor('P-12 r2 is approved and applied as TX-6', WAIT_MS);
    await pty.waitFor('● 1 needs you', WAIT_MS);
    expect(await report()).toContainEqual({
      command: 'proposal.approve',
      input: { proposalId: 'P-12', revision: 2, origin: 'tui', note: null },
      principal: 'operator',
      ok: true,
    });

    pty.press('7R');
    await pty.waitFor('Roll back TX-6', WAIT_MS);
    await pty.waitFor('src/page.ts', WAIT_MS);
    pty.press('breaks the client\r');
    await pty.waitFor('TX-6 is rolled back by TX-7', WAIT_MS);
    expect(await report()).toContainEqual({
      command: 'transaction.rollback',
      input: { transactionId: 'TX-6', origin: 'tui', reason: 'breaks the client' },
      principal: 'operator',
      ok: true,
    });

    pty.press('?');
    await pty.waitFor('In Transactions', WAIT_MS);
    pty.press(ESC);
    await pty.waitFor((screen) => !screen.join('\n').includes('In Transactions'), WAIT_MS);
    // Nothing that was asked for here needs more than the rows that changed.
    expect(pty.raw().slice(started)).not.toMatch(/\u001b\[[23]?J/);
    pty.press('q');
    expect((await pty.exit(WAIT_MS)).exitCode).toBe(0);
    expect(await report()).toContainEqual({ closed: ['stop'], code: 0 });
  });
});

describe('resizing', () => {
  it('draws the right screen at every size, without anything left of the old one', async () => {
    const { pty } = start(200, 50);
    await pty.waitFor('[7] Transactions', WAIT_MS);
    for (const [cols, rows, text] of [
      [80, 24, '[3 Proposals]'],
      [30, 8, 'too small:'],
      [40, 12, '[3 Proposals]'],
      [120, 30, '[1] Runs'],
      [200, 50, '[1] Runs'],
    ] as const) {
      await pty.resize(cols, rows);
      await pty.waitFor(
        (screen) => screen.some((row) => row.includes(text)) && (cols < 40 || /q quit$/.test(screen.at(-1) ?? '')),
        WAIT_MS,
      );
      if (cols >= 40) {
        await pty.waitFor(
          (now) => now.filter((row) => /^[┌┏├┣└┗│┃]/.test(row)).every((row) => row.length === cols),
          WAIT_MS,
        );
        expect(pty.screen().filter((row) => row.includes('need you'))).toHaveLength(1);
      }
    }
    expect(pty.raw()).not.toContain('\u001b[3J');
  });
});

describe('hostile output', () => {
  it('is shown and not obeyed', async () => {
    const { pty } = start(120, 30);
    pty.press('j');
    await pty.waitFor('npm warn ␛]52;c;aGFja2Vk␇ deprecated', WAIT_MS);
    expect(pty.raw()).not.toContain('\u001b]52');
  });
});

describe('the terminal comes back', () => {
  /** In a shell, so that what the next program finds is seen: its settings before and after, and the exit code. */
  async function inShell(
    env: Record<string, string>,
  ): Promise<Started & { readonly settings: () => Promise<readonly string[]> }> {
    const file = path.join(dir, `report-${count++}`);
    const before = `${file}-before`;
    const after = `${file}-after`;
    const script = `stty -a > '${before}'; '${process.execPath}' '${entry}' screen; code=$?; stty -a > '${after}'; echo "ended with $code"; sleep 60`;
    session = startInPty({
      file: '/bin/sh',
      args: ['-c', script],
      cols: 80,
      rows: 24,
      env: { TZ: 'UTC', RT_REPORT: file, ...env },
    });
    await session.waitFor('● 2 need you', WAIT_MS);
    return {
      pty: session,
      report: () => readReport(file),
      settings: async () => Promise.all([readFile(before, 'utf8'), readFile(after, 'utf8')]),
    };
  }

  it.each<[string, Record<string, string>, (pty: PtySession, pid: number) => void, number, string | null]>([
    ['q', { RT_LIVE: '0' }, (pty) => pty.press('q'), 0, 'stop'],
    ['q and drain, with a live session', {}, (pty) => pty.press('qd'), 0, 'drain'],
    ['Ctrl-C', { RT_LIVE: '0' }, (pty) => pty.press('\u0003'), 130, 'stop'],
    ['SIGTERM', {}, (_pty, pid) => process.kill(pid, 'SIGTERM'), 143, 'stop'],
    ['SIGHUP', {}, (_pty, pid) => process.kill(pid, 'SIGHUP'), 129, 'drain'],
    ['a crash', {}, (_pty, pid) => process.kill(pid, 'SIGUSR2'), 1, null],
  ])('after %s', async (_name, env, leave, code, closed) => {
    const { pty, report, settings } = await inShell(env);
    expect(pty.modes()).toEqual({ alternate: true, cursorHidden: true, bracketedPaste: true });
    const { pid } = await reported(report, (row) => 'pid' in row);
    leave(pty, Number(pid));
    await pty.waitFor(`ended with ${code}`, WAIT_MS);
    expect(pty.modes()).toEqual({ alternate: false, cursorHidden: false, bracketedPaste: false });
    const [before, after] = await settings();
    expect(after).toBe(before);
    if (closed === null) await pty.waitFor('boom from a timer', WAIT_MS);
    else expect(await report()).toContainEqual({ closed: [closed], code });
    // Nothing of the screen stays behind on the shell's.
    expect(pty.screen().join('\n')).not.toMatch(/need you|[┏┗│]/);
  });

  it('for the shell after Ctrl-Z, and the screen is drawn again after fg', async () => {
    session = startInPty({
      file: '/bin/bash',
      args: ['--norc', '--noprofile', '-i'],
      cols: 80,
      rows: 24,
      env: { TZ: 'UTC', RT_LIVE: '0', PS1: 'shell> ', PROMPT_COMMAND: '', HISTFILE: '' },
    });
    const pty = session;
    await pty.waitFor('shell>', WAIT_MS);
    pty.press(`'${process.execPath}' '${entry}' screen\r`);
    await pty.waitFor('● 2 need you', WAIT_MS);
    pty.press('\u001a');
    await pty.waitFor('Stopped', WAIT_MS);
    expect(pty.modes()).toEqual({ alternate: false, cursorHidden: false, bracketedPaste: expect.any(Boolean) });
    pty.press('fg\r');
    await pty.waitFor('● 2 need you', WAIT_MS);
    await pty.waitFor(/q quit$/, WAIT_MS);
    pty.press('j');
    await pty.waitFor('▸P-12', WAIT_MS);
    pty.press('q');
    await pty.waitFor((screen) => !screen.join('\n').includes('need you'), WAIT_MS);
    pty.press('exit\r');
    await pty.exit(WAIT_MS);
  });

  it('refuses Ctrl-Z while a session runs, and says why', async () => {
    const { pty } = start(80, 24);
    await pty.waitFor('● 2 need you', WAIT_MS);
    pty.press('\u001a');
    await pty.waitFor('would also stop the engine', WAIT_MS);
  });
});

describe('watch in a narrow pane', () => {
  it('shows each event once and in order while they come in, and leaves with q', async () => {
    const { pty } = start(40, 24, { RT_EVENTS: '40' }, 'watch');
    await pty.waitFor('E-100', WAIT_MS);
    const shown = pty
      .screen()
      .map((row) => /E-(\d+)/.exec(row)?.[1])
      .filter((number) => number !== undefined)
      .map(Number);
    expect(shown.length).toBeGreaterThan(8);
    expect(shown).toEqual(Array.from({ length: shown.length }, (_, index) => 100 - shown.length + 1 + index));
    pty.press('q');
    expect((await pty.exit(WAIT_MS)).exitCode).toBe(0);
    expect(pty.modes()).toEqual({ alternate: false, cursorHidden: false, bracketedPaste: false });
  });
});
