/**
 * A program for pseudo-terminal tests: the real screen on an engine in memory. `argv[2]` is `screen` or `watch`; the
 * environment steers it: RT_REPORT (file for commands and ends, one JSON per line), RT_LOG_RATE (log lines per second),
 * RT_LIVE=0 (no live session), RT_EVENTS (events to write, one every 20 ms), RT_DIFF_LINES (length of
 * the diffs), RT_PROPOSALS (how many in all). SIGUSR2 throws an uncaught exception. It ends the process as an entry file would.
 */
import { appendFileSync } from 'node:fs';
import { runTui } from '../../src/tui/main.tsx';
import { runWatch } from '../../src/tui/watch.tsx';
import { FakeEngine } from './fake-engine.ts';
import { AT, longDiff, proposal, sampleSnapshot } from './sample-snapshot.ts';

const { env } = process;
const report = (row: unknown): void => {
  if (env.RT_REPORT !== undefined) appendFileSync(env.RT_REPORT, `${JSON.stringify(row)}\n`);
};

const sample = sampleSnapshot();
const engine = new FakeEngine(
  env.RT_LIVE === '0'
    ? { ...sample, sessions: sample.sessions.map((item) => ({ ...item, status: 'succeeded' as const, endedAt: AT })) }
    : sample,
);
const diffLines = Number(env.RT_DIFF_LINES ?? 0);
if (diffLines > 0) for (const name of engine.diffs.keys()) engine.diffs.set(name, longDiff(diffLines));
const proposals = Number(env.RT_PROPOSALS ?? 0);
if (proposals > 0) {
  const many = Array.from({ length: proposals }, (_, number) => proposal(`P-${number + 100}`));
  engine.snapshot = { ...engine.snapshot, proposals: [...many, ...engine.snapshot.proposals] };
}
for (let number = 0; number < 60; number++) engine.change('task.noted', 'task', `T-${number}`);
engine.appendLog('S-30', 'stdout', 'running npm test\n\u001b[32mok\u001b[0m 12 passed\n');
engine.appendLog('S-30', 'stderr', 'npm warn \u001b]52;c;aGFja2Vk\u0007 deprecated\n');
engine.appendLog('S-31', 'stdout', 'cloning the workspace\n');

const command = engine.command.bind(engine);
engine.command = async (name, input, principal) => {
  const result = await command(name, input, principal);
  report({ command: name, input, principal, ok: result.ok });
  return result;
};

const rate = Number(env.RT_LOG_RATE ?? 0);
let line = 0;
const feed =
  rate === 0
    ? null
    : setInterval(() => {
        for (let count = 0; count < rate / 50; count++) {
          engine.appendLog('S-31', 'stdout', `line ${line++} of a log that has about this many characters in it\n`);
        }
      }, 20);

let wanted = Number(env.RT_EVENTS ?? 0);
const ticker = setInterval(() => {
  if (wanted-- > 0) engine.change('task.ticked', 'task', `E-${engine.events.length + 1}`);
}, 20);

report({ pid: process.pid });
process.on('SIGUSR2', () => {
  throw new Error('boom from a timer');
});

const io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env,
  signal: new AbortController().signal,
};
const code =
  process.argv[2] === 'watch' ? await runWatch(engine, io, { runId: null, limit: 50 }) : await runTui(engine, io);
if (feed !== null) clearInterval(feed);
clearInterval(ticker);
report({ closed: engine.closed, code });
process.exitCode = code;
