/**
 * Delay in milliseconds before attempt `attempt + 1`: doubles from 2 s to at most 2 min, with jitter (`random` in 0–1)
 * of up to half, so that several tasks that failed together do not return together.
 */
export function retryDelayMs(attempt: number, random: number): number {
  const full = Math.min(120_000, 2_000 * 2 ** Math.max(0, attempt - 1));
  return Math.round(full / 2 + (full / 2) * random);
}
