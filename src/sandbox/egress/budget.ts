/** Octets that all connections of a gateway share. */
export interface ByteBudget {
  /** Takes octets about to be passed on; false when they would exceed the total: then nothing more may pass. */
  take(bytes: number): boolean;
  isSpent(): boolean;
  /** How long the taker has to wait before it reads on, so that the rate holds on average. Milliseconds. */
  pauseMs(bytes: number, nowMs: number): number;
}

export function createByteBudget(totalBytes: number | null, bytesPerSecond: number | null): ByteBudget {
  let used = 0;
  /** When everything passed so far is paid for at the rate. */
  let paidAtMs = 0;
  return {
    take(bytes) {
      used += bytes;
      return totalBytes === null || used <= totalBytes;
    },
    isSpent: () => totalBytes !== null && used >= totalBytes,
    pauseMs(bytes, nowMs) {
      if (bytesPerSecond === null) return 0;
      paidAtMs = Math.max(paidAtMs, nowMs) + (bytes / bytesPerSecond) * 1000;
      return Math.max(0, paidAtMs - nowMs);
    },
  };
}
