import type { Engine, Snapshot } from '../../src/engine/api.ts';
import { approve, roadProject, roadTask, untilSnapshot, value } from '../support/road.ts';
import { clearProject, expectNothingLeft } from '../support/road-leftovers.ts';
import { removeChildBundle, spawnRoadOwner } from '../support/road-owner.ts';

export interface SupervisorKillsReport {
  readonly kills: number;
  readonly tasks: number;
  readonly sessions: number;
  readonly orphaned: number;
  readonly cancelledTests: number;
  readonly abortedTransactions: number;
}

const LIVE = new Set(['starting', 'running', 'paused', 'exporting']);
const AT_WORK = new Set(['open', 'assigned', 'in_progress']);

/**
 * Kills the process that owns the engine `count` times at random moments while two tasks at a time go through session, test,
 * approval and application. After each restart nothing may be left of the earlier process; in the end every task has
 * landed. Throws when that isn't so.
 */
export async function run({
  count,
  seed,
}: {
  readonly count: number;
  readonly seed: number;
}): Promise<SupervisorKillsReport> {
  const random = generator(seed);
  const road = await roadProject({
    agent: 'sleep 1; echo "$(head -n 1 "$1")" > "src/$(head -n 1 "$1").txt"; sleep 1',
    agents: 2,
    config:
      'limits: {max_sessions: 2, max_attempts: 20}\nsandbox: {memory_mib: 256, workspace_mib: 32, temp_mib: 16, home_mib: 16}\ntests: {required: [["sleep", "1"]]}',
    policy: 'consensus:\n  default: {tests_required: true, human_approval_required: true}',
  });
  try {
    const client = await road.open('never');
    const answers: Promise<unknown>[] = [];
    for (let kill = 0; kill < count; kill += 1) {
      const owner = await spawnRoadOwner({ directory: road.dir, ownership: 'require' });
      // One in five dies before its engine is even open.
      const early = random() < 0.2;
      if (!early) {
        await owner.ready();
        const seen = await client.query('snapshot', {});
        expectEnded(seen, owner.pid);
        answers.push(approveAll(client, seen));
        await addWork(client, seen);
      }
      await new Promise((resolve) => setTimeout(resolve, Math.floor(random() * (early ? 1_500 : 6_000))));
      await owner.kill();
    }
    const engine = await road.open();
    await Promise.all(answers);
    const done = await landAll(engine);
    for (const { title, status } of done.tasks)
      if (status !== 'done' || road.git('show', `HEAD:src/${title}.txt`) !== title)
        throw new Error(`the work of task ${title} (${status}) is not there`);
    const unfinished = done.sessions.filter((session) => LIVE.has(session.status) || session.endedAt === null);
    if (unfinished.length > 0) throw new Error(`sessions without an end: ${JSON.stringify(unfinished)}`);
    await expectNothingLeft(road.dir);
    if (road.git('status', '--porcelain') !== '') throw new Error(road.git('status', '--porcelain'));
    const tests = done.proposals.flatMap((proposal) => proposal.testRuns);
    return {
      kills: count,
      tasks: done.tasks.length,
      sessions: done.sessions.length,
      orphaned: done.sessions.filter((session) => session.status === 'orphaned').length,
      cancelledTests: tests.filter((test) => test.status === 'cancelled').length,
      abortedTransactions: done.transactions.filter((transaction) => transaction.status === 'aborted').length,
    };
  } finally {
    await clearProject(road.dir);
    await road.dispose();
    removeChildBundle();
  }
}

/** Two further tasks when the earlier ones need no session any more, so that each kill has something to hit. */
async function addWork(client: Engine, { tasks }: Snapshot): Promise<void> {
  if (tasks.some((task) => AT_WORK.has(task.status))) return;
  const titles = [`t${tasks.length + 1}`, `t${tasks.length + 2}`];
  value(await client.command('task.add', { runId: null, tasks: titles.map((title) => roadTask(title)) }, 'operator'));
}

/** An answer may be a refusal: the owner can die in the middle of it. What counts is what the last one makes of it. */
async function approveAll(client: Engine, { attention, proposals }: Snapshot): Promise<void> {
  for (const item of attention) {
    const proposal = proposals.find((row) => row.id === item.id);
    if (item.kind === 'approval' && proposal) await approve(client, proposal.id, proposal.currentRevision);
  }
}

async function landAll(engine: Engine): Promise<Snapshot> {
  for (let round = 0; round < 20; round += 1) {
    const seen = await untilSnapshot(
      engine,
      ({ attention, runs }) =>
        attention.some((item) => item.kind === 'approval') || runs.every((row) => row.status === 'completed'),
      180_000,
    );
    if (seen.runs.every((row) => row.status === 'completed')) return seen;
    await approveAll(engine, seen);
  }
  throw new Error('the tasks never came to their end');
}

/** Once an engine is open, what is live belongs to it: sessions started before it have an end and a reason. */
function expectEnded(snapshot: Snapshot, pid: number): void {
  if (snapshot.engine.owner?.pid !== pid) throw new Error(`the owner is ${JSON.stringify(snapshot.engine.owner)}`);
  const began = Date.parse(snapshot.engine.owner.startedAt);
  for (const session of snapshot.sessions) {
    if (Date.parse(session.createdAt) >= began) continue;
    if (LIVE.has(session.status) || session.endedAt === null)
      throw new Error(`${session.id} of an earlier process is ${session.status}`);
    if (session.status === 'orphaned' && session.statusReason === null) throw new Error(`${session.id} has no reason`);
  }
}

/** Numbers in 0–1 that are the same for the same seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
