import type { TransactionRecord } from '../../../engine/api.ts';
import type { ScreenData } from '../../state/screen-state.ts';
import { wrapText } from '../../text/measure.ts';
import { type Row, rowOf, seg } from '../../text/row.ts';
import { clockTime } from '../../text/when.ts';
import { shortCommit, shortRef, statusTone, statusWords } from '../words.ts';
import { type DetailModel, field, rowsModel } from './detail-model.ts';

export function transactionDetail(transaction: TransactionRecord, data: ScreenData, cells: number): DetailModel {
  const loaded = data.transaction?.id === transaction.id ? data.transaction.detail : null;
  const rows: Row[] = [
    ...field('status', statusWords(transaction.status), cells, statusTone(transaction.status)),
    ...field('why', transaction.statusReason, cells),
    ...field('look at it', transaction.needsOperator ? 'recovery left something that needs you' : null, cells, 'warn'),
    ...field('change', `${transaction.proposalId} r${transaction.revision}`, cells),
    ...field('undoes', transaction.revertsId, cells),
    ...field('lands on', shortRef(transaction.targetRef), cells),
    ...field(
      'commits',
      `${shortCommit(transaction.oldCommit)} → ${shortCommit(transaction.newCommit) || 'none'}`,
      cells,
    ),
    ...field('began', clockTime(transaction.createdAt), cells),
    ...field('ended', transaction.endedAt === null ? null : clockTime(transaction.endedAt), cells),
    [],
    rowOf(' Phases', 'strong'),
  ];
  if (loaded === null) rows.push(rowOf(' reading …', 'dim'));
  for (const phase of loaded?.phases ?? []) {
    const sign = phase.outcome === 'ok' ? '✓' : phase.outcome === 'failed' ? '✗' : phase.outcome === null ? '●' : '↺';
    const tone = phase.outcome === 'ok' ? 'good' : phase.outcome === 'failed' ? 'bad' : 'warn';
    const ms = phase.endedAt === null ? '' : `${Date.parse(phase.endedAt) - Date.parse(phase.startedAt)} ms`;
    rows.push([
      seg(` ${sign} ${phase.phase.padEnd(12)} `, tone),
      seg(`${clockTime(phase.startedAt)}  ${ms.padStart(8)}  `, 'dim'),
      seg(phase.outcome ?? 'under way'),
    ]);
    if (phase.detail !== null) {
      for (const line of wrapText(phase.detail, cells - 5)) rows.push(rowOf(`     ${line}`, 'dim'));
    }
  }
  if (loaded !== null && loaded.paths.length > 0) {
    rows.push([], rowOf(` Paths (${loaded.paths.length})`, 'strong'), ...loaded.paths.map((path) => rowOf(` ${path}`)));
  }
  return rowsModel(
    `${transaction.id} · ${transaction.kind} of ${transaction.proposalId} r${transaction.revision}`,
    rows,
  );
}
