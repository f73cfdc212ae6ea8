import type { ProposalView } from '../../../engine/api.ts';
import type { ScreenData } from '../../state/screen-state.ts';
import { wrapText } from '../../text/measure.ts';
import { type Row, rowOf, seg, shiftRow, spreadRow } from '../../text/row.ts';
import { clockTime } from '../../text/when.ts';
import type { DiffIndex, DiffRow } from '../diff-index.ts';
import {
  flowSegments,
  GATE_GLYPH,
  gateSegments,
  gateTone,
  plural,
  principalName,
  shortCommit,
  statusTone,
  statusWords,
} from '../words.ts';
import type { DetailModel } from './detail-model.ts';

/** Gates first, then why the ones that don't hold don't, then the diff in one continuous scroll. */
export function proposalDetail(proposal: ProposalView, data: ScreenData, cells: number, left: number): DetailModel {
  const { revision } = proposal;
  const diff = data.diff?.proposalId === proposal.id && data.diff.revision === revision.number ? data.diff : null;
  const prelude: readonly Row[] = [...reasons(proposal, cells), ...records(proposal, cells), ...diffState(diff, cells)];
  const index = diff?.status === 'ready' ? diff.index : null;
  const offset = prelude.length;
  return {
    title: `${proposal.id} r${revision.number} · ${proposal.title} · ${proposal.agentId}`,
    head: (top, width) => [...gatesRows(proposal, width), placeRow(proposal, index, Math.max(0, top - offset), width)],
    total: offset + (index?.total ?? 0),
    row: (at) => {
      if (at < offset) return prelude[at] ?? [];
      const row = index?.row(at - offset) ?? null;
      return row === null || index === null ? [] : diffRow(row, index.numberWidth, left);
    },
    files: (index?.files ?? []).map((position) => position + offset),
    hunks: (index?.hunks ?? []).map((position) => position + offset),
  };
}

/** Narrower than this the gates are not all named. */
const NARROW = 44;

function gatesRows(proposal: ProposalView, cells: number): readonly Row[] {
  // Where all names would fill the pane, those that hold are counted.
  const narrow = cells < NARROW;
  const named = narrow ? proposal.gates.filter((gate) => gate.status !== 'passed') : proposal.gates;
  const held = proposal.gates.length - named.length;
  const counted = narrow ? [seg(`${held} ✓ `, 'good')] : [];
  return flowSegments([seg(' Gates ', 'strong'), ...counted, ...gateSegments(named)], cells, 7);
}

function placeRow(proposal: ProposalView, index: DiffIndex | null, top: number, cells: number): Row {
  const { revision } = proposal;
  const place = index?.place(top) ?? null;
  if (place === null) {
    return [
      seg(` ${statusWords(proposal.status)}`, statusTone(proposal.status)),
      seg(
        ` · ${proposal.taskId} · ${plural(revision.files, 'file')} +${revision.additions} −${revision.deletions}`,
        'dim',
      ),
    ];
  }
  const { file, hunk, hunks } = place;
  const count = hunks === 0 ? '' : `hunk ${Math.max(1, hunk)}/${hunks} `;
  return spreadRow(
    [seg(` ${file.path}`, 'strong'), seg(`  +${file.additions} −${file.deletions}`, 'dim')],
    [seg(` ${count}`, 'dim')],
    cells,
  );
}

function reasons(proposal: ProposalView, cells: number): readonly Row[] {
  const rows: Row[] = [];
  for (const gate of proposal.gates) {
    if (gate.status === 'passed') continue;
    const lines = wrapText(gate.detail, Math.max(8, cells - 17));
    for (const [index, line] of lines.entries()) {
      const name = index === 0 ? `${GATE_GLYPH[gate.status]} ${gate.id}` : '';
      rows.push([seg(` ${name.padEnd(15)} `, gateTone(gate.status)), seg(line)]);
    }
    // What the human gate waits for is the key in the bottom line.
    if (gate.remedy === '' || gate.id === 'human') continue;
    for (const [index, line] of wrapText(gate.remedy, Math.max(8, cells - 20)).entries()) {
      rows.push([seg(' '.repeat(17)), seg(`${index === 0 ? '→' : ' '} ${line}`, 'dim')]);
    }
  }
  return rows;
}

function records(proposal: ProposalView, cells: number): readonly Row[] {
  const rows: Row[] = [];
  const say = (text: string): void => {
    for (const line of wrapText(text, Math.max(8, cells - 2))) rows.push(rowOf(` ${line}`, 'dim'));
  };
  const { author, source, baseCommit } = proposal.revision;
  say(`${proposal.sessionId} by ${principalName(author)}, from ${source} on ${shortCommit(baseCommit)}`);
  if (proposal.statusReason !== null) say(proposal.statusReason);
  if (proposal.revision.highRiskPaths.length > 0) say(`high risk: ${proposal.revision.highRiskPaths.join(', ')}`);
  for (const run of proposal.testRuns.filter((test) => test.revision === proposal.revision.number)) {
    say(
      `test ${run.id} ${statusWords(run.status)}: ${run.argv.join(' ')}${run.detail === null ? '' : ` — ${run.detail}`}`,
    );
  }
  for (const approval of proposal.approvals.filter((given) => given.revision === proposal.revision.number)) {
    const origin = approval.carriedFrom === null ? approval.origin : `carried over from r${approval.carriedFrom}`;
    say(`approved ${clockTime(approval.at)} by ${principalName(approval.principal)} (${origin})`);
  }
  return rows;
}

function diffState(diff: ScreenData['diff'], cells: number): readonly Row[] {
  if (diff === null || diff.status === 'loading') return [[], rowOf(' reading the diff …', 'dim')];
  if (diff.error === null) return [[]];
  return [
    [],
    ...wrapText(`✗ ${diff.error.message}`, cells - 2).map((line) => rowOf(` ${line}`, 'bad')),
    ...wrapText(`→ ${diff.error.remedy}`, cells - 2).map((line) => rowOf(` ${line}`)),
  ];
}

function diffRow(row: DiffRow, numberWidth: number, left: number): Row {
  switch (row.kind) {
    case 'gap':
      return [];
    case 'file':
      return [
        seg(`── ${row.file.path} `, 'strong'),
        seg(`${row.file.status} +${row.file.additions} −${row.file.deletions} `, 'dim'),
      ];
    case 'note':
      return [seg(`   ${row.text}`, 'dim')];
    case 'hunk':
      return [seg(`${' '.repeat(numberWidth + 1)} ${row.hunk.header}`, 'hunk')];
    case 'line': {
      const { kind, text, oldLine, newLine } = row.line;
      const number = kind === 'removed' ? oldLine : newLine;
      const gutter = seg(` ${String(number ?? '').padStart(numberWidth)} `, 'dim');
      if (kind === 'note') return [gutter, seg(`\\ ${text}`, 'dim')];
      const sign = kind === 'added' ? '+' : kind === 'removed' ? '-' : ' ';
      const tone = kind === 'context' ? 'plain' : kind;
      return [gutter, seg(`${sign} `, tone), ...shiftRow([seg(text, tone)], left)];
    }
  }
}
