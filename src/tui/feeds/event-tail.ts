import type { Engine, EventRecord } from '../../engine/api.ts';

export interface EventTailOptions {
  readonly runId: string | null;
  /** How many of the newest events to begin with. */
  readonly backlog: number;
  readonly onEvents: (events: readonly EventRecord[]) => void;
  readonly onProblem: (problem: string) => void;
}

const BATCH = 500;
/** The subscription is a hint; this is how long a missed one can hide an event. */
const POLL_MS = 1_000;

/**
 * Every event from the backlog on, once and in order: the cursor is the id of the last one handed on, and only what
 * stands in the table moves it. Notifications, their loss and their repetition change nothing but the delay.
 */
export function eventTail(engine: Engine, options: EventTailOptions): { close(): void } {
  let cursor: number | null = null;
  let reading = false;
  let again = false;
  let closed = false;
  const ofRun = options.runId === null ? {} : { runId: options.runId };

  async function drain(): Promise<void> {
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    try {
      do {
        again = false;
        const first = cursor === null;
        const query = first
          ? { limit: Math.max(1, Math.min(options.backlog, 1_000)), newest: true }
          : { afterId: cursor ?? 0, limit: BATCH };
        const rows = await engine.query('events', { ...ofRun, ...query });
        if (closed) return;
        const after: number = cursor ?? 0;
        const fresh = rows.filter((event) => event.id > after).sort((a, b) => a.id - b.id);
        cursor = fresh.at(-1)?.id ?? after;
        if (fresh.length > 0) options.onEvents(fresh);
        if (!first && rows.length === BATCH) again = true;
      } while (again && !closed);
    } catch (error) {
      if (!closed) options.onProblem(error instanceof Error ? error.message : String(error));
    } finally {
      reading = false;
    }
  }

  const subscription = engine.subscribe(() => void drain());
  const timer = setInterval(() => void drain(), POLL_MS);
  void drain();
  return {
    close() {
      closed = true;
      clearInterval(timer);
      subscription.close();
    },
  };
}
