import type { Engine, Snapshot } from '../../engine/api.ts';

export interface SnapshotFeed {
  /** Reads soon, for instance after a command. */
  refresh(): void;
  close(): void;
}

const MIN_GAP_MS = 100;
/** Things that are no events (the container engine, the owner) show after this long at most. */
const IDLE_MS = 3_000;

/** Reads the snapshot now, after commits (at most ten times a second, one at a time) and now and then. */
export function snapshotFeed(
  engine: Engine,
  onSnapshot: (snapshot: Snapshot) => void,
  onProblem: (problem: string) => void,
): SnapshotFeed {
  let timer: NodeJS.Timeout | null = null;
  let dueMs = 0;
  let reading = false;
  let again = false;
  let closed = false;
  let failed = false;
  let last = '';
  let lastMs = Number.NEGATIVE_INFINITY;

  function schedule(delayMs: number): void {
    if (closed) return;
    const at = performance.now() + delayMs;
    if (timer !== null) {
      if (dueMs <= at) return;
      clearTimeout(timer);
    }
    dueMs = at;
    timer = setTimeout(() => {
      timer = null;
      void read();
    }, delayMs);
  }

  async function read(): Promise<void> {
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    lastMs = performance.now();
    try {
      const snapshot = await engine.query('snapshot', {});
      const read = fingerprint(snapshot);
      if (closed || (read === last && !failed)) return;
      last = read;
      failed = false;
      onSnapshot(snapshot);
    } catch (error) {
      failed = true;
      if (!closed) onProblem(error instanceof Error ? error.message : String(error));
    } finally {
      reading = false;
      if (again) {
        again = false;
        schedule(MIN_GAP_MS);
      } else schedule(IDLE_MS);
    }
  }

  const subscription = engine.subscribe(() => {
    if (reading) again = true;
    else schedule(Math.max(0, lastMs + MIN_GAP_MS - performance.now()));
  });
  void read();

  return {
    refresh() {
      if (reading) again = true;
      else schedule(0);
    },
    close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      subscription.close();
    },
  };
}

/** Changes with everything that a snapshot can show: state moves with an event (law 5), the rest is compared itself. */
function fingerprint(snapshot: Snapshot): string {
  const live = snapshot.sessions.filter((session) => session.endedAt === null);
  return JSON.stringify([snapshot.lastEventId, snapshot.project, snapshot.engine, snapshot.attention, live]);
}
