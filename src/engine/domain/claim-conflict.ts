import type { GlobMatcher } from './glob.ts';
import type { ClaimStatus } from './lifecycle.ts';
import { overlaps } from './overlap.ts';
import type { ClaimMode } from './records.ts';
import type { Resource } from './resource.ts';

export interface AskedClaim {
  readonly agent: string;
  readonly mode: ClaimMode;
  readonly resource: Resource;
}

export interface HeldClaim extends AskedClaim {
  readonly status: ClaimStatus;
  readonly expiresAtMs: number;
}

/** Does a held claim stop another agent's new one? An agent never stands in its own way. */
export function claimsConflict(held: HeldClaim, asked: AskedClaim, nowMs: number, matches: GlobMatcher): boolean {
  return (
    held.agent !== asked.agent &&
    CONFLICTING_MODES[held.mode][asked.mode] &&
    isLive(held, nowMs) &&
    overlaps(held.resource, asked.resource, matches)
  );
}

/** A claim binds while its status is `active` and its time isn't up; at the very millisecond of expiry it no longer does. */
export function isLive(claim: Pick<HeldClaim, 'status' | 'expiresAtMs'>, nowMs: number): boolean {
  return claim.status === 'active' && nowMs < claim.expiresAtMs;
}

/** First key: the mode that is held; second: the mode that is asked for. */
export const CONFLICTING_MODES = {
  read: { read: false, review: false, write: false, exclusive: true },
  review: { read: false, review: false, write: false, exclusive: true },
  write: { read: false, review: false, write: true, exclusive: true },
  exclusive: { read: true, review: true, write: true, exclusive: true },
} as const satisfies Record<ClaimMode, Record<ClaimMode, boolean>>;
