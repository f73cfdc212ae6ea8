import type { Snapshot } from '../../src/engine/api.ts';
import { approve, roadProject, roadTask, untilSnapshot, value } from '../support/road.ts';
import { clearProject, expectNothingLeft } from '../support/road-leftovers.ts';
import { removeChildBundle, spawnRoadOwner } from '../support/road-owner.ts';

export interface SupervisorKillsReport {
  readonly kills: number;
  readonly sessions: number;
  readonly orphaned: number;
  readonly cancelledTests: number;
}

const LIVE = new Set(['starting', 'running', 'paused', 'exporting']);

/**
 * Kills the process that owns the engine `count` times at random moments of a run of two tasks with a required test. After each
 * restart nothing may be left of the earlier process; in the end both tasks have landed. Throws when that isn't so.
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
    value(await client.command('task.add', { runId: null, tasks: [roadTask('one'), roadTask('two')] }, 'operator'));
    for (let kill = 0; kill < count; kill += 1) {
      const owner = await spawnRoadOwner({ directory: road.dir, ownership: 'require' });
      // One in four dies before its engine is even open.
      const early = random() < 0.25;
      if (!early) {
        await owner.ready();
        expectEnded(await client.query('snapshot', {}), owner.pid);
      }
      await new Promise((resolve) => setTimeout(resolve, Math.floor(random() * (early ? 1_500 : 7_000))));
      await owner.kill();
    }
    const engine = await road.open();
    const seen = await untilSnapshot(
      engine,
      (snapshot) => snapshot.attention.filter((item) => item.kind === 'approval').length === 2,
      180_000,
    );
    for (const proposal of seen.proposals) value(await approve(engine, proposal.id, proposal.currentRevision));
    const done = await untilSnapshot(engine, ({ runs }) => runs[0]?.status === 'completed');
    if (!done.tasks.every((task) => task.status === 'done')) throw new Error(JSON.stringify(done.tasks));
    for (const title of ['one', 'two'])
      if (road.git('show', `HEAD:src/${title}.txt`) !== title)
        throw new Error(`the work of task ${title} is not there`);
    const unfinished = done.sessions.filter((session) => LIVE.has(session.status) || session.endedAt === null);
    if (unfinished.length > 0) throw new Error(`sessions without an end: ${JSON.stringify(unfinished)}`);
    await expectNothingLeft(road.dir);
    const tests = done.proposals.flatMap((proposal) => proposal.testRuns);
    return {
      kills: count,
      sessions: done.sessions.length,
      orphaned: done.sessions.filter((session) => session.status === 'orphaned').length,
      cancelledTests: tests.filter((test) => test.status === 'cancelled').length,
    };
  } finally {
    await clearProject(road.dir);
    await road.dispose();
    removeChildBundle();
  }
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
