import type { Engine, EventRecord } from '../../src/engine/api.ts';

export interface EventFilter {
  readonly runId?: string | undefined;
  readonly type?: string | undefined;
  readonly entity?: string | undefined;
  readonly entityId?: string | undefined;
}

const BATCH = 500;
const STAY_MS = 60_000;

/**
 * Hands every event after `afterId` that fits the filter to `onEvent`, in order and once, until `stop` fires; then
 * reads what is there by then and answers. The notice from the engine is only a hint: what is read is the table.
 */
export async function followEvents(
  engine: Engine,
  filter: EventFilter,
  afterId: number,
  onEvent: (event: EventRecord) => void,
  stop: AbortSignal,
): Promise<void> {
  let cursor = afterId;
  const readOn = async () => {
    for (;;) {
      const events = await engine.query('events', { ...filter, afterId: cursor, limit: BATCH });
      for (const event of events) {
        cursor = event.id;
        onEvent(event);
      }
      if (events.length < BATCH) return;
    }
  };
  const bell = createBell();
  const subscription = engine.subscribe(() => bell.ring());
  const onStop = () => bell.ring();
  // What the subscription waits with lets the process end; whoever follows wants it to stay.
  const alive = setInterval(() => undefined, STAY_MS);
  stop.addEventListener('abort', onStop);
  try {
    for (;;) {
      const stopped = stop.aborted;
      await readOn();
      if (stopped) return;
      await bell.rung();
    }
  } finally {
    stop.removeEventListener('abort', onStop);
    subscription.close();
    clearInterval(alive);
  }
}

/** A ring that is not lost when nobody waits for it yet. */
function createBell(): { ring(): void; rung(): Promise<void> } {
  let pending = false;
  let wake: (() => void) | null = null;
  return {
    ring: () => {
      pending = true;
      wake?.();
    },
    rung: async () => {
      if (!pending) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      wake = null;
      pending = false;
    },
  };
}
