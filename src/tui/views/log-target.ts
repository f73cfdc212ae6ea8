import type { SessionRecord } from '../../engine/api.ts';
import type { ListId } from '../state/panes.ts';
import type { ScreenData } from '../state/screen-state.ts';
import { isLiveSession } from './words.ts';

/** The session whose log belongs to what is selected; else the newest live one, else the newest. */
export function logTarget(data: ScreenData, list: ListId, id: string | null): SessionRecord | null {
  const { snapshot } = data;
  if (snapshot === null) return null;
  const { sessions } = snapshot;
  const named = (sessionId: string | null | undefined) => sessions.find((session) => session.id === sessionId) ?? null;
  const newest = (belongs: (session: SessionRecord) => boolean) =>
    sessions.findLast((session) => belongs(session) && isLiveSession(session.status)) ??
    sessions.findLast(belongs) ??
    null;
  switch (list) {
    case 'sessions':
      return named(id);
    case 'tasks':
      return newest((session) => session.taskId === id);
    case 'proposals':
      return named(snapshot.proposals.find((proposal) => proposal.id === id)?.sessionId);
    case 'claims':
      return named(snapshot.claims.find((claim) => claim.id === id)?.sessionId) ?? newest(() => true);
    case 'runs':
      return newest((session) => session.runId === id);
    default:
      return newest(() => true);
  }
}
