import type { ClaimRecord } from '../../../engine/api.ts';
import type { Row } from '../../text/row.ts';
import { clockTime, until } from '../../text/when.ts';
import { statusTone, statusWords } from '../words.ts';
import { type DetailModel, field, rowsModel } from './detail-model.ts';

export function claimDetail(claim: ClaimRecord, cells: number, nowMs: number): DetailModel {
  const rows: readonly Row[] = [
    ...field('status', statusWords(claim.status), cells, statusTone(claim.status)),
    ...field('why', claim.statusReason, cells),
    ...field('mode', claim.mode, cells),
    ...field(claim.resourceKind, claim.path, cells),
    ...field('held by', claim.agentId, cells),
    ...field('session', claim.sessionId, cells),
    ...field('task', claim.taskId, cells),
    ...field('expires', claim.status === 'active' ? until(claim.expiresAt, nowMs) : null, cells),
    ...field('token', String(claim.fencingToken), cells),
    ...field('since', clockTime(claim.createdAt), cells),
  ];
  return rowsModel(`${claim.id} · ${claim.mode} ${claim.path}`, rows);
}
