import type { Clock } from '../ports/clock.ts';

export type WatchdogEnd = 'wall_clock' | 'idle' | 'stopped';

export interface Watchdog {
  /** Settles with the first reason to end the process, or never. */
  readonly fired: Promise<WatchdogEnd>;
  /** Something arrived: the idle deadline starts anew. */
  touch(): void;
  stop(): void;
  close(): void;
}

/**
 * Ends a process that runs too long, says nothing for too long, or is told to stop. Measured by the monotonic clock, so
 * a jump of the wall clock ends nothing early; a suspended program counts the suspension when it wakes.
 */
export function createWatchdog(clock: Clock, limits: { readonly wallMs: number; readonly idleMs: number }): Watchdog {
  const started = clock.monotonicMs();
  let lastSign = started;
  let settle: (end: WatchdogEnd) => void = () => undefined;
  const fired = new Promise<WatchdogEnd>((resolve) => {
    settle = resolve;
  });
  const timer = setInterval(() => {
    const now = clock.monotonicMs();
    if (now - started >= limits.wallMs) settle('wall_clock');
    else if (now - lastSign >= limits.idleMs) settle('idle');
  }, TICK_MS);
  return {
    fired,
    touch: () => {
      lastSign = clock.monotonicMs();
    },
    stop: () => settle('stopped'),
    close: () => clearInterval(timer),
  };
}

const TICK_MS = 250;
