import { createGlobMatcher } from '../../src/engine/config/glob-matcher.ts';
import { claimsConflict, type HeldClaim } from '../../src/engine/domain/claim-conflict.ts';
import { overlaps } from '../../src/engine/domain/overlap.ts';
import { normalizePath } from '../../src/engine/domain/path.ts';
import type { ClaimMode } from '../../src/engine/domain/records.ts';
import { type Resource, type StatedResource, toResource } from '../../src/engine/domain/resource.ts';
import { readCases } from './case-file.ts';
import { type CaseResult, type ExpectedVerdict, type VectorFamily, verdictDifference } from './family.ts';

interface PathCase {
  readonly id: string;
  readonly kind: 'file' | 'directory';
  readonly input: string;
  readonly expect: ExpectedVerdict & { readonly normal: string | null };
}

interface OverlapCase {
  readonly id: string;
  readonly a: StatedResource;
  readonly b: StatedResource;
  readonly overlap: boolean;
}

interface ConflictCase {
  readonly id: string;
  readonly now_ms: number;
  readonly held: {
    readonly agent: string;
    readonly mode: ClaimMode;
    readonly resource: StatedResource;
    readonly status: HeldClaim['status'];
    readonly expires_at_ms: number;
  };
  readonly asked: { readonly agent: string; readonly mode: ClaimMode; readonly resource: StatedResource };
  readonly conflict: boolean;
}

export const family: VectorFamily = {
  name: 'paths',
  async *run(directory, onMissing) {
    for (const one of await readCases<PathCase>(directory, 'paths/paths.json', onMissing)) yield checkPath(one);
    for (const one of await readCases<OverlapCase>(directory, 'paths/overlaps.json', onMissing)) {
      yield checkOverlap(one);
    }
    for (const one of await readCases<ConflictCase>(directory, 'paths/conflicts.json', onMissing)) {
      yield checkConflict(one);
    }
  },
};

function checkPath({ id, kind, input, expect }: PathCase): CaseResult {
  const answer = kind === 'file' ? normalizePath('file', input) : normalizePath('directory', input);
  const difference = verdictDifference(expect, answer.ok ? null : answer.error.reason);
  if (difference !== null) return failed(id, difference);
  if (answer.ok && answer.value !== expect.normal) {
    return failed(id, `expected ${JSON.stringify(expect.normal)}, got ${JSON.stringify(answer.value)}`);
  }
  return passed(id);
}

function checkOverlap({ id, a, b, overlap }: OverlapCase): CaseResult {
  const matches = createGlobMatcher();
  const left = resourceOf(a);
  const right = resourceOf(b);
  const forth = overlaps(left, right, matches);
  const back = overlaps(right, left, matches);
  return forth === overlap && back === overlap
    ? passed(id)
    : failed(id, `expected ${overlap}, got ${forth}, exchanged ${back}`);
}

function checkConflict({ id, now_ms, held, asked, conflict }: ConflictCase): CaseResult {
  const heldClaim = { ...held, resource: resourceOf(held.resource), expiresAtMs: held.expires_at_ms };
  const askedClaim = { ...asked, resource: resourceOf(asked.resource) };
  const answer = claimsConflict(heldClaim, askedClaim, now_ms, createGlobMatcher());
  return answer === conflict ? passed(id) : failed(id, `expected ${conflict}, got ${answer}`);
}

function resourceOf(stated: StatedResource): Resource {
  const resource = toResource(stated);
  if (!resource.ok) throw new Error(`the case names a refused path: ${resource.error.reason}`);
  return resource.value;
}

function passed(id: string): CaseResult {
  return { id, ok: true, detail: '' };
}

function failed(id: string, detail: string): CaseResult {
  return { id, ok: false, detail };
}
