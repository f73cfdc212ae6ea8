import { type Gate, isTerminal } from '../../engine/api.ts';
import { type Row, type Segment, seg, type Tone } from '../text/row.ts';

/** A status as people read it. */
export function statusWords(status: string): string {
  return status.replaceAll('_', ' ');
}

/** How a status feels, for all lifecycles together: their words don't contradict each other. */
export function statusTone(status: string): Tone {
  switch (status) {
    case 'running':
    case 'active':
    case 'in_progress':
    case 'applying':
    case 'starting':
    case 'exporting':
      return 'info';
    case 'done':
    case 'completed':
    case 'accepted':
    case 'applied':
    case 'succeeded':
    case 'passed':
    case 'approved':
      return 'good';
    case 'failed':
    case 'timed_out':
    case 'orphaned':
    case 'rejected':
    case 'aborted':
    case 'error':
      return 'bad';
    case 'blocked':
    case 'paused':
    case 'suspended':
    case 'draining':
    case 'revision_requested':
      return 'warn';
    default:
      return 'plain';
  }
}

export const GATE_GLYPH: Readonly<Record<Gate['status'], string>> = {
  passed: '✓',
  pending: '●',
  failed: '✗',
  overridden: '~',
};

export function gateTone(status: Gate['status']): Tone {
  if (status === 'passed') return 'good';
  return status === 'failed' ? 'bad' : 'warn';
}

/** `base ✓ claims ✓ tests ● …`: name and sign, so that no colour is needed. */
export function gateSegments(gates: readonly Gate[]): readonly Segment[] {
  return gates.map((gate) => seg(`${gate.id} ${GATE_GLYPH[gate.status]} `, gateTone(gate.status)));
}

/** Segments in rows of at most `cells` cells, broken between segments, later rows indented. */
export function flowSegments(segments: readonly Segment[], cells: number, indent: number): readonly Row[] {
  const rows: Segment[][] = [];
  let row: Segment[] = [];
  let used = 0;
  for (const piece of segments) {
    if (used > 0 && used + piece.text.length > cells) {
      rows.push(row);
      row = [seg(' '.repeat(indent))];
      used = indent;
    }
    row.push(piece);
    used += piece.text.length;
  }
  if (row.length > 0) rows.push(row);
  return rows;
}

export function isLiveSession(status: string): boolean {
  return !isTerminal('session', status);
}

export function shortCommit(commit: string | null): string {
  return commit === null ? '' : commit.slice(0, 7);
}

export function shortRef(ref: string): string {
  return ref.replace(/^refs\/heads\//, '');
}

/** `agent:impl-1` → `impl-1`. */
export function principalName(principal: string): string {
  return principal.startsWith('agent:') ? principal.slice('agent:'.length) : principal;
}

export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
