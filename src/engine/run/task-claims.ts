import { mustMove } from '../app/moves.ts';
import { claimsConflict } from '../domain/claim-conflict.ts';
import type { ClaimId } from '../domain/ids.ts';
import type { AgentRecord, ClaimRecord, SessionRecord, TaskRecord } from '../domain/records.ts';
import { type Resource, toResource } from '../domain/resource.ts';
import { literalEntries } from '../domain/scope.ts';
import type { Repositories, WriteScope } from '../ports/store.ts';
import type { WorkDeps } from './deps.ts';

type PathResource = Extract<Resource, { type: 'file' | 'directory' }>;

/** What `claims.mode: auto` locks for a task: its literal writable files and directories; `directories` tells which is which. */
export function claimedResources(task: TaskRecord, directories: (path: string) => boolean): readonly PathResource[] {
  return literalEntries(task.writablePaths).flatMap((entry) => {
    const path = entry.replace(/^\.\//, '');
    const isDirectory = path.endsWith('/') || directories(path);
    const resource = toResource(isDirectory ? { type: 'directory', path } : { type: 'file', path });
    return resource.ok && (resource.value.type === 'file' || resource.value.type === 'directory')
      ? [resource.value]
      : [];
  });
}

/** The claim of another agent that stands in the way, or null. */
export function conflictingClaim(
  deps: WorkDeps,
  rows: Repositories,
  agent: AgentRecord,
  resources: readonly PathResource[],
): ClaimRecord | null {
  const nowMs = deps.clock.nowMs();
  for (const resource of resources) {
    for (const held of rows.claims.activeOverlapping(resource.type, resource.path)) {
      const heldResource = toResource({ type: held.resourceKind, path: held.path });
      if (!heldResource.ok) continue;
      const conflict = claimsConflict(
        {
          agent: held.agentId,
          mode: held.mode,
          resource: heldResource.value,
          status: held.status,
          expiresAtMs: Date.parse(held.expiresAt),
        },
        { agent: agent.id, mode: 'write', resource },
        nowMs,
        deps.matches,
      );
      if (conflict) return held;
    }
  }
  return null;
}

/** Takes write claims on all of them inside the caller's write; the caller has checked for conflicts in the same one. */
export function takeClaims(
  deps: WorkDeps,
  scope: WriteScope,
  session: SessionRecord,
  resources: readonly PathResource[],
): void {
  const now = deps.clock.now();
  for (const resource of resources) {
    const claim: ClaimRecord = {
      id: scope.nextId('claim') as ClaimId,
      runId: session.runId,
      taskId: session.taskId,
      sessionId: session.id,
      agentId: session.agentId,
      mode: 'write',
      resourceKind: resource.type,
      path: resource.path,
      status: 'active',
      statusReason: null,
      fencingToken: scope.claims.nextFencingToken(),
      expiresAt: expiry(deps),
      createdAt: now,
      updatedAt: now,
    };
    scope.claims.insert(claim);
    scope.append({
      type: 'claim.active',
      principal: `agent:${session.agentId}`,
      entity: 'claim',
      entityId: claim.id,
      runId: session.runId,
      data: { mode: claim.mode, path: claim.path, sessionId: session.id },
    });
  }
}

/** Renews the claims of live sessions (no event: it is a sign of life) and expires those whose time is up. */
export function keepClaims(deps: WorkDeps, scope: WriteScope): void {
  const now = deps.clock.now();
  const nowMs = deps.clock.nowMs();
  const live = new Set<string>(scope.sessions.live().map((session) => session.id));
  for (const claim of scope.claims.active()) {
    if (claim.sessionId !== null && live.has(claim.sessionId)) {
      const remaining = Date.parse(claim.expiresAt) - nowMs;
      if (remaining < deps.settings.current().claimTtlMs / 2)
        scope.claims.update({ ...claim, expiresAt: expiry(deps) });
    } else if (Date.parse(claim.expiresAt) <= nowMs) {
      mustMove(scope, 'claim', claim, now, { to: 'expired', by: 'system' });
    }
  }
}

function expiry(deps: WorkDeps): string {
  return new Date(deps.clock.nowMs() + deps.settings.current().claimTtlMs).toISOString();
}
