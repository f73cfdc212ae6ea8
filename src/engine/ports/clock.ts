/** Wall clock and monotonic time, passed in so that rules and tests never read the machine's own. */
export interface Clock {
  /** UTC, RFC 3339 with milliseconds, e.g. `2026-03-01T09:30:00.000Z`. */
  now(): string;
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Milliseconds from an arbitrary origin; never goes backwards, not moved by a clock jump. */
  monotonicMs(): number;
}
