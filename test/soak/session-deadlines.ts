import { roadProject, roadTask, untilSnapshot, value } from '../support/road.ts';
import { clearProject, expectNothingLeft } from '../support/road-leftovers.ts';

/**
 * One session that says nothing and one that never stops talking, with the smallest deadlines that a configuration may have.
 * Takes a little over two minutes. Answers how long each ran, in milliseconds; throws when an end is not the right one.
 */
export async function run(): Promise<{ readonly idleMs: number; readonly wallMs: number }> {
  const road = await roadProject({
    agent:
      'echo kept > "src/$(head -n 1 "$1").txt"; if [ "$(head -n 1 "$1")" = silent ]; then sleep 600; else while :; do echo talk; sleep 5; done; fi',
    agents: 2,
    config:
      'limits: {max_sessions: 2, max_attempts: 1}\nsandbox: {session_minutes: 2, idle_minutes: 1, memory_mib: 256, workspace_mib: 32}',
  });
  try {
    const engine = await road.open();
    value(
      await engine.command('task.add', { runId: null, tasks: [roadTask('silent'), roadTask('chatty')] }, 'operator'),
    );
    const seen = await untilSnapshot(
      engine,
      ({ tasks }) => tasks.length === 2 && tasks.every((task) => task.status === 'failed'),
      240_000,
    );
    const ended = async (taskId: string, title: string, reason: string): Promise<number> => {
      const session = seen.sessions.find((row) => row.taskId === taskId);
      if (session?.status !== 'timed_out' || session.statusReason !== reason)
        throw new Error(`${title}: ${session?.status}, ${session?.statusReason}`);
      const kept = value(await engine.query('sessionDiff', { sessionId: session.id }));
      if (kept.map((file) => file.path).join() !== `src/${title}.txt`)
        throw new Error(`${title}: its work is not kept`);
      return Date.parse(session.endedAt ?? '') - Date.parse(session.startedAt ?? '');
    };
    const idleMs = await ended('T-1', 'silent', 'no output for the 1 minutes of sandbox.idle_minutes');
    const wallMs = await ended('T-2', 'chatty', 'over the 2 minutes of sandbox.session_minutes');
    await expectNothingLeft(road.dir);
    return { idleMs, wallMs };
  } finally {
    await clearProject(road.dir);
    await road.dispose();
  }
}
