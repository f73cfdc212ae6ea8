import type { Clock } from '../../src/engine/ports/clock.ts';

export const systemClock: Clock = {
  now: () => new Date().toISOString(),
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
