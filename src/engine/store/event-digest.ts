import { hash } from 'node:crypto';

/** What stands before the first event. */
export const GENESIS_DIGEST = '0'.repeat(64);

/** The columns of an event but its number, as they are in its row; `data` is the row's own JSON text. */
export interface EventRow {
  readonly at: string;
  readonly type: string;
  readonly principal: string;
  readonly entity: string;
  readonly entityId: string;
  readonly runId: string | null;
  readonly data: string;
}

/**
 * SHA-256 (64 hex digits) of the previous digest followed by the canonical JSON of the row, so that no row can be
 * changed, dropped or put in between without every later digest being wrong.
 */
export function eventDigest(previous: string, id: number, row: EventRow): string {
  const runId = row.runId === null ? 'null' : JSON.stringify(row.runId);
  const canonical =
    `{"at":${JSON.stringify(row.at)},"data":${row.data},"entity":${JSON.stringify(row.entity)}` +
    `,"entityId":${JSON.stringify(row.entityId)},"id":${id},"principal":${JSON.stringify(row.principal)}` +
    `,"runId":${runId},"type":${JSON.stringify(row.type)}}`;
  return hash('sha256', previous + canonical, 'hex');
}
