import type { EgressLimits } from '../../engine/ports/egress-gateway.ts';

/** The one place that states the gateway's bounds. */
export const DEFAULT_EGRESS_LIMITS: EgressLimits = {
  connections: 32,
  headBytes: 8 * 1024,
  headers: 100,
  headTimeoutMs: 5_000,
  resolveTimeoutMs: 5_000,
  answers: 64,
  dialTimeoutMs: 10_000,
  dialStaggerMs: 250,
  helloBytes: 16 * 1024,
  helloTimeoutMs: 5_000,
  // A provider may think for minutes before it streams; the wall clock of the session bounds the rest.
  idleTimeoutMs: 600_000,
  totalBytes: null,
  bytesPerSecond: null,
};

/** Sun's `sun_path` holds 108 bytes, and Node cuts a longer path silently. */
export const MAX_SOCKET_PATH_BYTES = 100;

/** How long and how much of a refused client's remaining input is read and dropped, so that it can still read the answer. */
export const LINGER_MS = 1_000;
export const LINGER_BYTES = 256 * 1024;

/** Refused connections that may linger at a time; beyond that they are closed without an answer. */
export const LINGERING_CONNECTIONS = 256;
