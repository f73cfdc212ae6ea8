import type { Command } from 'commander';
import type { Engine, SessionRecord } from '../../src/engine/api.ts';
import type { CommandResult } from './context.ts';
import { diffText } from './diff-text.ts';
import { endOfWatching, interruptExit } from './interrupted.ts';
import { type Invocation, implement, type Program, withExample } from './invocation.ts';
import { printPage } from './lists.ts';
import { notFound } from './not-found.ts';
import { addPaging, type PageOptions } from './page.ts';
import { parseChoice } from './values.ts';
import { withEngine, withSnapshot } from './with-engine.ts';

export function addSessions(parent: Command, program: Program): void {
  const group = parent.command('sessions').description('executions of agents');
  withExample(group, 'roundtable sessions list');
  addList(group, program);
  addShow(group, program);
  addLogs(group, program);

  const stop = group
    .command('stop')
    .description('end a session; its work is exported and kept')
    .argument('<id>', 'session');
  implement(program, stop, 'roundtable sessions stop S-1', (invocation) =>
    withEngine(invocation, 'brief', 'sessions stop', async (engine) => {
      const sessionId = invocation.operands[0] ?? '';
      const result = await engine.command('session.stop', { sessionId }, 'operator');
      if (!result.ok) return invocation.out.fail(result.error);
      invocation.out.document({ sessionId });
      invocation.out.line(`${sessionId} is being stopped`);
      return 0;
    }),
  );
}

interface ListOptions extends PageOptions {
  readonly run?: string;
  readonly live?: boolean;
}

function addList(group: Command, program: Program): void {
  const command = addPaging(group.command('list').description('sessions, oldest first'))
    .option('--run <id>', 'only those of a run')
    .option('--live', 'only those that have not ended');
  implement<ListOptions>(program, command, 'roundtable sessions list --live', (invocation) =>
    withSnapshot(invocation, 'sessions list', ({ sessions }) => {
      const { run, live } = invocation.options;
      const fit = sessions.filter(
        (session) => (run === undefined || session.runId === run) && (live !== true || session.endedAt === null),
      );
      return printPage(invocation, fit, ['ID', 'STATUS', 'AGENT', 'TASK', 'STARTED', 'EXIT'], (session) => [
        session.id,
        session.status,
        session.agentId,
        session.taskId ?? '',
        session.startedAt ?? '',
        session.exitCode === null ? '' : String(session.exitCode),
      ]);
    }),
  );
}

function addShow(group: Command, program: Program): void {
  const command = group
    .command('show')
    .description('one session: how it ran and how it ended')
    .argument('<id>', 'session')
    .option('--diff', 'the kept work of a session that failed');
  implement<{ readonly diff?: boolean }>(program, command, 'roundtable sessions show S-1 --diff', (invocation) =>
    withSnapshot(invocation, 'sessions show', async ({ sessions }, engine) => {
      const { out, operands, options } = invocation;
      const session = sessions.find((candidate) => candidate.id === operands[0]);
      if (session === undefined) return out.fail(notFound('session', operands[0], 'sessions list'));
      const diff = options.diff === true ? await engine.query('sessionDiff', { sessionId: session.id }) : null;
      if (diff !== null && !diff.ok) return out.fail(diff.error);
      out.document({ session, ...(diff === null ? {} : { files: diff.value }) });
      for (const line of sessionLines(session)) out.line(line);
      if (diff !== null) out.block(diff.value.length === 0 ? '\nno work was kept' : `\n${diffText(diff.value)}`);
      return 0;
    }),
  );
}

function sessionLines(session: SessionRecord): readonly string[] {
  const reason = session.statusReason === null ? '' : ` (${session.statusReason})`;
  const cut = (truncated: boolean) => (truncated ? ' (cut off)' : '');
  const { usage } = session;
  return [
    `${session.id}  ${session.agentId} (${session.role}) on ${session.taskId ?? session.runId}, attempt ${session.attempt}`,
    `status   ${session.status}${reason}${session.exitCode === null ? '' : `, exit code ${session.exitCode}`}`,
    `adapter  ${session.adapter}, model ${session.model}`,
    `image    ${session.imageDigest}`,
    `base     ${session.baseCommit}`,
    `time     ${session.startedAt ?? 'not started'} to ${session.endedAt ?? 'now'}`,
    `output   ${session.stdoutBytes} bytes${cut(session.stdoutTruncated)}, errors ${session.stderrBytes} bytes${cut(session.stderrTruncated)}`,
    ...(usage === null
      ? []
      : [
          `usage    ${usage.inputTokens} tokens in, ${usage.outputTokens} out${usage.usd === null ? '' : `, $${usage.usd}`}`,
        ]),
    ...(session.withheld.length === 0 ? [] : [`withheld ${session.withheld.join(', ')}`]),
    ...(session.externalId === null ? [] : [`external ${session.externalId}`]),
  ];
}

interface LogOptions {
  readonly follow?: boolean;
  readonly stream: 'stdout' | 'stderr';
}

function addLogs(group: Command, program: Program): void {
  const command = group
    .command('logs')
    .description('what a session printed')
    .argument('<id>', 'session')
    .option('-f, --follow', 'go on until the session ends')
    .option('--stream <stream>', 'stdout or stderr', parseChoice('--stream', ['stdout', 'stderr'] as const), 'stdout');
  implement<LogOptions>(program, command, 'roundtable sessions logs S-1 -f', (invocation) =>
    withEngine(invocation, 'never', 'sessions logs', (engine) => printLog(invocation, engine)),
  );
}

const CHUNK_BYTES = 64 * 1024;
const POLL_MS = 200;
const LONGEST_LINE = 64 * 1024;

async function printLog(
  { ctx, out, operands, options }: Invocation<LogOptions>,
  engine: Engine,
): Promise<CommandResult> {
  const sessionId = operands[0] ?? '';
  const { stream } = options;
  const end = endOfWatching(ctx);
  let fromByte = 0;
  // Whole lines are printed, so that an escape sequence cut in two by a chunk is still seen as one.
  let pending = '';
  const flush = (all: boolean) => {
    const end = all || pending.length > LONGEST_LINE ? pending.length : pending.lastIndexOf('\n') + 1;
    if (end > 0) out.block(pending.slice(0, end));
    pending = pending.slice(end);
  };
  for (;;) {
    const chunk = await engine.query('sessionLog', { sessionId, stream, fromByte, maxBytes: CHUNK_BYTES });
    if (!chunk.ok) return out.fail(chunk.error);
    const { text, nextByte, ended, truncated } = chunk.value;
    if (text !== '') {
      out.document({ type: 'log', sessionId, stream, fromByte, text });
      pending += text;
      flush(false);
    }
    const moved = nextByte > fromByte;
    fromByte = nextByte;
    if (moved) continue;
    if (ended || options.follow !== true) {
      flush(true);
      if (truncated) out.note('the log was cut off at the limit of sandbox.output_bytes');
      if (fromByte === 0 && stream === 'stdout') {
        const other = await engine.query('sessionLog', { sessionId, stream: 'stderr', fromByte: 0, maxBytes: 1 });
        if (other.ok && other.value.text !== '')
          out.note(`nothing on stdout; see roundtable sessions logs ${sessionId} --stream stderr`);
      }
      return 0;
    }
    await pause(POLL_MS, end);
    if (end.aborted) {
      flush(true);
      return interruptExit(end);
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
