/**
 * What the screen costs, in a pseudo-terminal and bundled as it is shipped. Times are compared with a peer or given as
 * percentiles; the engine is one in memory, so that only the screen is measured.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { bundleEntry } from '../support/bundle.ts';
import { type PtySession, startInPty } from '../support/pty.ts';

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

export interface ScreenBench {
  /** Milliseconds from spawn to the first useful frame, medians, and their ratio (bound 1.6). */
  readonly firstFrame: {
    readonly screenMs: number;
    readonly watchMs: number;
    readonly emptyInkMs: number;
    readonly ratio: number;
    readonly watchRatio: number;
  };
  /** Key press to changed screen under a feed of 4,000 log lines a second, in ms (bound p95 50). */
  readonly keyMs: Percentiles;
  /** Without key presses. Per cent of a core; frames a second under the feed (bounds 1, 30 and 15). */
  readonly cpu: { readonly idlePercent: number; readonly feedPercent: number; readonly feedFramesPerSecond: number };
  /** Resident memory in MiB at the end of the feed, and how many lines it had brought. */
  readonly memory: { readonly rssMib: number; readonly lines: number };
  /** p95 of a move in something long ÷ in something short (bound 1.5). */
  readonly longDiff: { readonly shortMs: Percentiles; readonly longMs: Percentiles; readonly ratio: number };
  readonly manyProposals: { readonly fewMs: Percentiles; readonly manyMs: Percentiles; readonly ratio: number };
}

const WAIT_MS = 30_000;
const ROUNDS = 5;
const KEYS = 40;
const WATCH_MS = 4_000;

export async function benchScreen(): Promise<ScreenBench> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'rt-bench-screen-'));
  try {
    const screen = await bundleEntry('test/support/screen-entry.ts', path.join(dir, 'screen'));
    const empty = await bundleEntry('test/support/empty-ink-entry.tsx', path.join(dir, 'empty'));
    return {
      firstFrame: await firstFrames(screen, empty),
      ...(await underFeed(screen)),
      longDiff: await compareDiffs(screen),
      manyProposals: await compareLists(screen),
    };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function firstFrames(screen: string, empty: string): Promise<ScreenBench['firstFrame']> {
  const times = { screen: [] as number[], watch: [] as number[], empty: [] as number[] };
  // In turn, so that what else the machine does falls on all three.
  for (let round = 0; round < ROUNDS; round++) {
    times.empty.push(await timeToText([empty], 'ready'));
    times.screen.push(await timeToText([screen, 'screen'], 'need you'));
    times.watch.push(await timeToText([screen, 'watch'], 'need you'));
  }
  const [screenMs, watchMs, emptyInkMs] = [median(times.screen), median(times.watch), median(times.empty)];
  return { screenMs, watchMs, emptyInkMs, ratio: screenMs / emptyInkMs, watchRatio: watchMs / emptyInkMs };
}

async function timeToText(args: readonly string[], text: string): Promise<number> {
  const from = performance.now();
  const pty = start(args, {});
  await pty.waitFor(text, WAIT_MS);
  const ms = performance.now() - from;
  await pty.close();
  return ms;
}

async function underFeed(screen: string): Promise<Pick<ScreenBench, 'keyMs' | 'cpu' | 'memory'>> {
  const idle = start([screen, 'screen'], { RT_LIVE: '0' });
  await idle.waitFor('hunk 1/', WAIT_MS);
  const idlePercent = (await watch(idle)).percent;
  await idle.close();

  const rate = 4_000;
  const from = performance.now();
  const pty = start([screen, 'screen'], { RT_LOG_RATE: String(rate) });
  await pty.waitFor('hunk 1/', WAIT_MS);
  pty.press('4');
  await pty.waitFor('S-31 log', WAIT_MS);
  const feed = await watch(pty);
  const keyMs = await movePresses(pty, 'list');
  const lines = Math.round(((performance.now() - from) / 1000) * rate);
  const rssMib = await residentMib(pty.pid);
  await pty.close();
  return {
    keyMs,
    cpu: { idlePercent, feedPercent: feed.percent, feedFramesPerSecond: feed.framesPerSecond },
    memory: { rssMib, lines },
  };
}

/** Processor time and frames over some seconds without a key. */
async function watch(pty: PtySession): Promise<{ readonly percent: number; readonly framesPerSecond: number }> {
  const ticks = await cpuTicks(pty.pid);
  const written = pty.raw().length;
  const from = performance.now();
  await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
  const seconds = (performance.now() - from) / 1000;
  const frames = pty.raw().slice(written).split('\u001b[?2026h').length - 1;
  // Linux counts in hundredths of a second.
  return { percent: ((await cpuTicks(pty.pid)) - ticks) / seconds, framesPerSecond: frames / seconds };
}

async function compareDiffs(screen: string): Promise<ScreenBench['longDiff']> {
  const run = async (lines: number): Promise<Percentiles> => {
    const pty = start([screen, 'screen'], { RT_LIVE: '0', RT_DIFF_LINES: String(lines) });
    await pty.waitFor('hunk 1/', WAIT_MS);
    pty.press('\r');
    await pty.waitFor('━ P-13', WAIT_MS);
    const times = await movePresses(pty, 'detail');
    await pty.close();
    return times;
  };
  const shortMs = await run(40);
  const longMs = await run(20_000);
  return { shortMs, longMs, ratio: longMs.p95 / shortMs.p95 };
}

async function compareLists(screen: string): Promise<ScreenBench['manyProposals']> {
  const run = async (count: number): Promise<Percentiles> => {
    const pty = start([screen, 'screen'], { RT_LIVE: '0', RT_PROPOSALS: String(count) });
    await pty.waitFor('hunk 1/', WAIT_MS);
    const times = await movePresses(pty, 'list');
    await pty.close();
    return times;
  };
  const fewMs = await run(20);
  const manyMs = await run(10_000);
  return { fewMs, manyMs, ratio: manyMs.p95 / fewMs.p95 };
}

/**
 * Down and up in turn; the time from each press until what it moves has changed: the selected row of the focused list
 * (nothing else changes that), or in a detail that stands still otherwise the whole screen.
 */
async function movePresses(pty: PtySession, what: 'list' | 'detail'): Promise<Percentiles> {
  const times: number[] = [];
  // The left column only: beside the selected row stands the detail, which loads by itself.
  const seen = (): string => {
    const rows = pty.screen();
    return (what === 'list' ? rows.filter((row) => row.startsWith('┃▸')).map((row) => row.slice(0, 60)) : rows).join(
      '\n',
    );
  };
  let before = seen();
  for (let press = 0; press < KEYS; press++) {
    const from = performance.now();
    pty.press(press % 2 === 0 ? 'j' : 'k');
    await pty.waitFor(() => seen() !== before, WAIT_MS);
    times.push(performance.now() - from);
    before = seen();
    // The next press must not find a frame of this one under way.
    await new Promise((resolve) => setTimeout(resolve, 80));
  }
  times.sort((a, b) => a - b);
  return { p50: at(times, 0.5), p95: at(times, 0.95) };
}

function start(args: readonly string[], env: Record<string, string>): PtySession {
  return startInPty({ file: process.execPath, args, cols: 200, rows: 50, env });
}

async function cpuTicks(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

function median(values: readonly number[]): number {
  return at(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
