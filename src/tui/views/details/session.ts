import type { SessionRecord } from '../../../engine/api.ts';
import type { ScreenData } from '../../state/screen-state.ts';
import type { Row } from '../../text/row.ts';
import { elapsed } from '../../text/when.ts';
import { shortCommit, statusTone, statusWords } from '../words.ts';
import { type DetailModel, field, rowsModel } from './detail-model.ts';

export function sessionDetail(session: SessionRecord, data: ScreenData, cells: number, nowMs: number): DetailModel {
  const claims = (data.snapshot?.claims ?? []).filter(
    (claim) => claim.sessionId === session.id && claim.status === 'active',
  );
  const proposals = (data.snapshot?.proposals ?? []).filter((proposal) => proposal.sessionId === session.id);
  const truncated = session.stdoutTruncated || session.stderrTruncated ? ', cut at the limit' : '';
  const rows: readonly Row[] = [
    ...field('status', statusWords(session.status), cells, statusTone(session.status)),
    ...field('why', session.statusReason, cells),
    ...field('for', `${session.agentId} on ${session.taskId ?? session.runId}, attempt ${session.attempt}`, cells),
    ...field('takes', elapsed(session.startedAt, session.endedAt, nowMs), cells),
    ...field('adapter', `${session.adapter}, model ${session.model}, ${session.mode}`, cells),
    ...field('claims', claims.map((claim) => `${claim.mode} ${claim.path}`).join(', '), cells),
    ...field('proposal', proposals.map((proposal) => proposal.id).join(', '), cells),
    ...field('usage', usageWords(session), cells),
    ...field('exit code', session.exitCode === null ? null : String(session.exitCode), cells),
    ...field('output', `${session.stdoutBytes} B, ${session.stderrBytes} B of errors${truncated}`, cells),
    ...field('base', shortCommit(session.baseCommit), cells),
    ...field('withheld', session.withheld.join(', '), cells),
    ...field('image', session.imageDigest, cells),
  ];
  return rowsModel(`${session.id} · ${session.agentId} · ${statusWords(session.status)}`, rows);
}

function usageWords(session: SessionRecord): string | null {
  if (session.usage === null) return null;
  const { inputTokens, outputTokens, usd } = session.usage;
  const cost = usd === null ? '' : `, $${usd.toFixed(2)}`;
  return `${inputTokens} tokens in, ${outputTokens} out${cost}`;
}
