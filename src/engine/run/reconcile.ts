import { decide } from '../app/deps.ts';
import { mustMove } from '../app/moves.ts';
import type { EngineError } from '../domain/errors.ts';
import type { SessionRecord } from '../domain/records.ts';
import { ok, type Result } from '../domain/result.ts';
import type { OwnedRoom } from '../ports/container-runtime.ts';
import type { WorkDeps } from './deps.ts';
import { recordSessionEnd } from './session-end.ts';

/** Largest raw archive that is kept from a room whose session was lost. */
const ARCHIVE_BYTES = 256 * 1024 ** 2;

/**
 * Clears what a killed process left behind, and only what carries this project's labels: rooms that no live session of
 * this instance owns are saved if they still hold work, then removed; sessions, test runs and requests of other
 * instances get a true end. Runs at start and every minute; `ours` tells what is under way in this process.
 */
export async function reconcile(deps: WorkDeps, ours: (ownerId: string) => boolean, atStart: boolean): Promise<void> {
  const rooms = await deps.runtime.listOwned(deps.projectId, deps.lifetime);
  if (rooms.ok) {
    for (const room of rooms.value) {
      if (room.labels.engineInstance === deps.engineInstance && (ours(room.labels.ownerId) || !isOld(deps, room)))
        continue;
      await clear(deps, room);
    }
  }
  const closed = await closeLost(deps, ours, atStart);
  if (!closed.ok) deps.warn(`lost sessions could not be closed: ${closed.error.message}`);
  if (!atStart) return;
  for (const owner of await deps.files.listRoots())
    if (!ours(owner)) await deps.files.removeRoot(owner, { keepExport: true });
}

/** A room of this instance is not touched in its first minute: it may belong to work that is just being set up. */
function isOld(deps: WorkDeps, room: OwnedRoom): boolean {
  return isPastFirstMinute(deps, room.labels.createdAt);
}

function isPastFirstMinute(deps: WorkDeps, createdAt: string): boolean {
  return deps.clock.nowMs() - Date.parse(createdAt) > 60_000;
}

async function clear(deps: WorkDeps, owned: OwnedRoom): Promise<void> {
  const room = deps.runtime.adopt(owned);
  const { ownerId, kind } = owned.labels;
  if (kind === 'session' && (owned.state === 'running' || owned.state === 'paused')) {
    await room.pause();
    const archive = await room.exportWorkspace(AbortSignal.any([deps.lifetime, AbortSignal.timeout(120_000)]));
    if (archive.ok) await deps.files.keepArchive(ownerId, archive.value, ARCHIVE_BYTES);
    await deps.files.removeRoot(ownerId, { keepExport: true });
  }
  const removed = await room.remove();
  if (!removed.ok) deps.warn(`the room of ${ownerId} could not be removed: ${removed.error.message}`);
}

async function closeLost(
  deps: WorkDeps,
  ours: (ownerId: string) => boolean,
  atStart: boolean,
): Promise<Result<void, EngineError>> {
  const isLost = (session: SessionRecord): boolean =>
    !ours(session.id) &&
    // A row of this instance that is not under way yet was inserted a moment ago.
    (session.engineInstance !== deps.engineInstance || isPastFirstMinute(deps, session.createdAt));
  const lost = deps.store.read((rows) => rows.sessions.live().some(isLost));
  if (!lost && !atStart) return ok(undefined);
  return decide(deps.store, (scope) => {
    const now = deps.clock.now();
    for (const session of scope.sessions.live()) {
      if (!isLost(session)) continue;
      recordSessionEnd(deps, scope, session, {
        status: 'orphaned',
        reason: 'the engine ended while it ran',
        // Not the agent's failure: the attempt does not count, and the next one is told.
        feedback: `Session ${session.id} was interrupted: the engine ended while it ran.`,
        retry: 'give_back',
      });
    }
    if (!atStart) return;
    for (const row of scope.testRuns.all()) {
      if (row.status !== 'running') continue;
      scope.testRuns.update({ ...row, status: 'cancelled', detail: 'the engine ended while it ran', endedAt: now });
      scope.append({
        type: 'test.cancelled',
        principal: 'system',
        entity: 'test',
        entityId: row.id,
        runId: scope.proposals.get(row.proposalId)?.runId ?? null,
        data: { proposalId: row.proposalId },
      });
    }
    for (const request of scope.requests.all()) {
      if (request.status !== 'running') continue;
      // Not done again by itself: its asker is gone, and the state says what came of it.
      scope.requests.update({
        ...request,
        status: 'failed',
        endedAt: now,
        result: {
          code: 'cancelled',
          message: 'the engine ended while it worked on this',
          remedy: 'look at the present state and ask again',
        },
      });
    }
    for (const agent of scope.agents.all()) {
      const busy = scope.sessions.live().some((session) => session.agentId === agent.id);
      if (agent.status === 'running' && !busy) mustMove(scope, 'agent', agent, now, { to: 'idle', by: 'system' });
      if (agent.status === 'draining' && !busy) mustMove(scope, 'agent', agent, now, { to: 'disabled', by: 'system' });
    }
  });
}
