import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Clock } from '../../../src/engine/ports/clock.ts';
import { createWatchdog, type WatchdogEnd } from '../../../src/engine/run/watchdog.ts';

describe('the watchdog of a session', () => {
  let monotonicMs = 0;
  const clock = { monotonicMs: () => monotonicMs } as Clock;
  let fired: WatchdogEnd | null = null;
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 250) {
      monotonicMs += Math.min(250, left);
      await vi.advanceTimersByTimeAsync(Math.min(250, left));
    }
  };
  const watch = (wallMs: number, idleMs: number) => {
    const watchdog = createWatchdog(clock, { wallMs, idleMs });
    void watchdog.fired.then((end) => {
      fired = end;
    });
    return watchdog;
  };
  beforeEach(() => {
    vi.useFakeTimers();
    monotonicMs = 1_000;
    fired = null;
  });
  afterEach(() => vi.useRealTimers());

  it('ends what runs too long although it speaks', async () => {
    const watchdog = watch(10_000, 2_000);
    for (let second = 0; second < 9; second += 1) {
      await pass(1_000);
      watchdog.touch();
    }
    expect(fired).toBeNull();
    await pass(1_500);
    expect(fired).toBe('wall_clock');
    watchdog.close();
  });

  it('ends what says nothing for too long, counted from its last word', async () => {
    const watchdog = watch(60_000, 5_000);
    await pass(4_000);
    watchdog.touch();
    await pass(4_500);
    expect(fired).toBeNull();
    await pass(1_000);
    expect(fired).toBe('idle');
    watchdog.close();
  });

  it('keeps the first reason', async () => {
    const watchdog = watch(2_000, 60_000);
    watchdog.stop();
    await pass(5_000);
    expect(fired).toBe('stopped');
    watchdog.close();
  });

  it('counts the time in which the program was suspended', async () => {
    const watchdog = watch(60_000, 10_000);
    monotonicMs += 120_000;
    await vi.advanceTimersByTimeAsync(250);
    expect(fired).toBe('wall_clock');
    watchdog.close();
  });

  it('never fires after it was closed', async () => {
    watch(1_000, 1_000).close();
    await pass(10_000);
    expect(fired).toBeNull();
  });
});
