import { cp, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { execa } from 'execa';
import {
  type Engine,
  type EngineError,
  type NewTask,
  ok,
  type ProposalView,
  type Result,
} from '../../src/engine/api.ts';
import type { CommandContext, CommandResult, GlobalOptions } from './context.ts';
import { type DemoVoice, demoVoice } from './demo-voice.ts';
import { followEvents } from './event-stream.ts';
import { interruptExit } from './interrupted.ts';
import { createOutput, type Output } from './output.ts';
import { summarise } from './stream-run.ts';

export interface DemoOptions {
  readonly headless: boolean;
  readonly keep: boolean;
  readonly yes: boolean;
}

/** The story: one change lands, one is refused by a gate and comes back right, one lands and is rolled back. */
const TASKS: readonly NewTask[] = [
  task('Let an empty cart cost nothing', 'total([]) throws; it should be 0.', ['src/cart.js']),
  task('Ignore case in the search', 'A search for "teapot" should find "Teapot".', ['src/search.js']),
  task('Show prices with two decimals', '1250 cents are "12.50 EUR", not "12.5 EUR".', ['src/price.js']),
];
const REFUSED = 'Ignore case in the search';
const ROLLED_BACK = 'Show prices with two decimals';

/** The whole road on a sample repository, in real sealed containers, with scripted agents and a scripted operator. */
export async function runDemo(
  ctx: CommandContext,
  globals: GlobalOptions,
  options: DemoOptions,
): Promise<CommandResult> {
  const out = createOutput({ ...ctx, ...globals });
  const voice = demoVoice(out, globals);
  const directory = await mkdtemp(path.join(os.tmpdir(), 'roundtable-demo-'));
  let kept = options.keep;
  try {
    const prepared = await prepare(ctx, directory, voice);
    if (!prepared.ok) return out.fail(prepared.error);
    const code = await tell(ctx, out, voice, directory);
    if (code === 0 && !options.headless && !options.yes && ctx.stdin.isTTY === true && ctx.stdout.isTTY === true) {
      kept = (await offerScreen(ctx, directory)) || kept;
    }
    return code;
  } finally {
    if (kept) voice.say(`The sample repository is kept: cd ${directory} && roundtable`);
    else await rm(directory, { recursive: true, force: true });
  }
}

async function prepare(ctx: CommandContext, directory: string, voice: DemoVoice): Promise<Result<void, EngineError>> {
  voice.heading('A sample repository');
  await cp(ctx.demoTemplate, directory, { recursive: true });
  await git(directory, 'init', '--quiet', '--initial-branch=main');
  await git(directory, 'config', 'user.name', 'Demo Operator');
  await git(directory, 'config', 'user.email', 'operator@example.invalid');
  await git(directory, 'config', 'commit.gpgSign', 'false');
  voice.say(`corner-shop, three small programs with tests, in ${directory}`);
  voice.heading('An image for the agents, from pieces of this machine');
  const image = await ctx.app.buildImage(directory, 'scripted', ctx.interrupt);
  if (!image.ok) return image;
  voice.say(
    `${image.value.imageId.slice(0, 19)}…, ${Math.round(image.value.sizeBytes / 1e6)} MB in ${(image.value.ms / 1000).toFixed(1)} s; no registry was asked`,
  );
  await git(directory, 'add', '--all');
  await git(directory, 'commit', '--quiet', '--message', 'Open the corner shop');
  return ok(undefined);
}

async function tell(ctx: CommandContext, out: Output, voice: DemoVoice, directory: string): Promise<CommandResult> {
  const opened = await ctx.app.open({ directory, ownership: 'require', command: 'roundtable demo' });
  if (!opened.ok) return out.fail(opened.error);
  const engine = opened.value;
  const finished = new AbortController();
  const following = followEvents(
    engine,
    {},
    0,
    (event) => {
      out.document({ type: 'event', event });
      voice.event(event);
    },
    finished.signal,
  );
  following.catch(() => undefined);
  try {
    const story = await play(ctx, engine, voice);
    if (!story.ok) return out.fail(story.error);
    const { runId, exit, reason } = story.value;
    finished.abort();
    await following;
    const snapshot = await engine.query('snapshot', {});
    out.document(summarise(snapshot, runId, reason, exit));
    if (exit === 0) {
      voice.heading('What the branch says');
      voice.block(
        await git(
          directory,
          'log',
          '--format=%h %<(48,trunc)%s %(trailers:key=Roundtable-Proposal,valueonly,separator=%x2C)',
        ),
      );
      voice.say("Every line but the oldest is the transaction manager's work; the agents never had write access.");
    }
    return exit;
  } finally {
    finished.abort();
    await engine.close('stop');
  }
}

interface Story {
  readonly runId: string;
  readonly exit: number;
  readonly reason: string;
}

async function play(ctx: CommandContext, engine: Engine, voice: DemoVoice): Promise<Result<Story, EngineError>> {
  voice.heading('Three tasks for two agents in sealed containers');
  const run = await engine.command(
    'run.create',
    {
      goal: 'Mend the corner shop',
      scope: [],
      targetRef: null,
      approveMode: 'policy',
      maxIterations: 10,
      timeoutMs: 120_000,
    },
    'operator',
  );
  if (!run.ok) return run;
  const { runId } = run.value;
  const added = await engine.command('task.add', { runId, tasks: TASKS }, 'operator');
  if (!added.ok) return added;
  const refused = new Set<string>();
  for (;;) {
    const outcome = await ctx.app.drive(engine, runId, ctx.interrupt);
    if (ctx.interrupt.aborted) return ok({ runId, exit: interruptExit(ctx.interrupt), reason: 'interrupted' });
    if (outcome.exit !== 3) {
      if (outcome.exit !== 0) return ok({ runId, exit: outcome.exit, reason: outcome.reason });
      break;
    }
    const acted = await actAsOperator(engine, runId, refused, voice);
    if (!acted.ok) return acted;
  }
  const rolledBack = await rollBack(engine, voice);
  if (!rolledBack.ok) return rolledBack;
  return endedAsWritten(engine, runId, refused.size);
}

/** The scripted operator: approves what passes its gates, sends away what a gate refuses. */
async function actAsOperator(
  engine: Engine,
  runId: string,
  refused: Set<string>,
  voice: DemoVoice,
): Promise<Result<void, EngineError>> {
  const { attention, proposals } = await engine.query('snapshot', {});
  for (const item of attention) {
    const proposal = proposals.find((candidate) => candidate.id === item.id && candidate.runId === runId);
    if (!proposal) continue;
    const acted =
      item.kind === 'failed_gate'
        ? await refuse(engine, proposal, refused, voice)
        : await approve(engine, proposal, voice);
    if (!acted.ok) return acted;
  }
  return untilItMoves(engine, runId);
}

async function approve(engine: Engine, proposal: ProposalView, voice: DemoVoice): Promise<Result<void, EngineError>> {
  await showDiff(engine, proposal, voice);
  voice.operator(`approves ${proposal.id} "${proposal.title}"`);
  const approved = await engine.command(
    'proposal.approve',
    { proposalId: proposal.id, revision: proposal.currentRevision, origin: 'scripted', note: 'scripted by the demo' },
    'operator',
  );
  return approved.ok ? ok(undefined) : approved;
}

async function refuse(
  engine: Engine,
  proposal: ProposalView,
  refused: Set<string>,
  voice: DemoVoice,
): Promise<Result<void, EngineError>> {
  await showDiff(engine, proposal, voice);
  voice.operator(`tries to approve ${proposal.id} "${proposal.title}" all the same`);
  const forced = await engine.command(
    'proposal.approve',
    { proposalId: proposal.id, revision: proposal.currentRevision, origin: 'scripted', note: null },
    'operator',
  );
  if (forced.ok || forced.error.code !== 'gates_not_passed') throw new Error(`a gate of ${proposal.id} did not hold`);
  voice.gate(forced.error.message);
  const run = proposal.testRuns.at(-1);
  const log = run ? await engine.query('testLog', { testRunId: run.id, fromByte: 0, maxBytes: 16_384 }) : null;
  const why = log?.ok
    ? (log.value.text
        .split('\n')
        .find((line) => /not ok|AssertionError|Expected/.test(line))
        ?.trim() ?? '')
    : '';
  voice.operator(`rejects ${proposal.id}; the task gets another attempt`);
  refused.add(proposal.title);
  const rejected = await engine.command(
    'proposal.reject',
    {
      proposalId: proposal.id,
      revision: proposal.currentRevision,
      origin: 'scripted',
      reason: `the tests fail: ${why || 'see the log'}`,
    },
    'operator',
  );
  return rejected.ok ? ok(undefined) : rejected;
}

async function rollBack(engine: Engine, voice: DemoVoice): Promise<Result<void, EngineError>> {
  const { transactions, proposals } = await engine.query('snapshot', {});
  const proposal = proposals.find((candidate) => candidate.title === ROLLED_BACK && candidate.status === 'accepted');
  const transaction = transactions.find(
    (candidate) => candidate.proposalId === proposal?.id && candidate.status === 'applied',
  );
  if (!transaction) throw new Error(`"${ROLLED_BACK}" did not land`);
  voice.heading('Second thoughts');
  voice.operator(`rolls ${transaction.id} back: the till prints its own decimals`);
  const reverted = await engine.command(
    'transaction.rollback',
    { transactionId: transaction.id, origin: 'scripted', reason: 'The till prints its own decimals.' },
    'operator',
  );
  return reverted.ok ? ok(undefined) : reverted;
}

/** The demo is a test of itself: it succeeds only if the story ended as written. */
async function endedAsWritten(engine: Engine, runId: string, refusals: number): Promise<Result<Story, EngineError>> {
  const { proposals, transactions, tasks } = await engine.query('snapshot', {});
  const of = (title: string, status: string): boolean =>
    proposals.some((proposal) => proposal.title === title && proposal.status === status);
  const asWritten =
    refusals === 1 &&
    of(REFUSED, 'rejected') &&
    of(REFUSED, 'accepted') &&
    of(ROLLED_BACK, 'reverted') &&
    tasks.filter((row) => row.runId === runId).every((row) => row.status === 'done') &&
    transactions.filter((row) => row.kind === 'rollback' && row.status === 'applied').length === 1;
  return ok({
    runId,
    exit: asWritten ? 0 : 1,
    reason: asWritten ? 'the story ended as written' : 'the story did not end as written',
  });
}

/** Waits until the engine has seen what the operator did. */
async function untilItMoves(engine: Engine, runId: string): Promise<Result<void, EngineError>> {
  return new Promise((resolve, reject) => {
    const look = async (): Promise<void> => {
      const { runs, attention, proposals } = await engine.query('snapshot', {});
      const run = runs.find((candidate) => candidate.id === runId);
      const waits = attention.some((item) =>
        proposals.some((proposal) => proposal.id === item.id && proposal.runId === runId),
      );
      if (run?.status !== 'blocked' || waits) {
        clearInterval(timer);
        resolve(ok(undefined));
      }
    };
    const timer = setInterval(() => {
      look().catch((cause: unknown) => {
        clearInterval(timer);
        reject(cause);
      });
    }, 50);
  });
}

async function showDiff(engine: Engine, proposal: ProposalView, voice: DemoVoice): Promise<void> {
  const diff = await engine.query('diff', { proposalId: proposal.id, contextLines: 0 });
  if (diff.ok) voice.diff(proposal, diff.value);
}

async function offerScreen(ctx: CommandContext, directory: string): Promise<boolean> {
  const prompt = createInterface({ input: ctx.stdin, output: ctx.stdout });
  const answer = await prompt
    .question('Open the screen on the sample repository? [y/N] ', { signal: ctx.interrupt })
    // Ctrl-C at the question is a no.
    .catch(() => '');
  prompt.close();
  if (!/^y/i.test(answer.trim())) return false;
  const opened = await ctx.app.open({ directory, ownership: 'prefer', command: 'roundtable' });
  if (!opened.ok) return false;
  const { showScreen } = await import('./screen.ts');
  await showScreen(opened.value, ctx);
  return false;
}

async function git(directory: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await execa('git', ['-c', 'core.hooksPath=/dev/null', ...args], {
    cwd: directory,
    stdin: 'ignore',
    timeout: 30_000,
    env: { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  });
  return stdout;
}

function task(title: string, body: string, writablePaths: readonly string[]): NewTask {
  return {
    title,
    body,
    readablePaths: ['.'],
    writablePaths,
    risk: 'normal',
    priority: 0,
    role: 'Implementer',
    agentId: null,
    dependsOn: [],
    expectedTests: [],
  };
}
