import type { ProposalView } from '../../../engine/api.ts';
import type { ScreenData } from '../../state/screen-state.ts';
import { wrapText } from '../../text/measure.ts';
import { type Row, rowOf, seg } from '../../text/row.ts';
import { GATE_GLYPH, gateTone, plural, shortRef, statusWords } from '../words.ts';

export interface Refusal {
  readonly text: string;
  readonly remedy: string;
}

/** Why this very revision can't be approved now, or null. Looked at again when the key is pressed. */
export function approveRefusal(data: ScreenData, proposalId: string, revision: number): Refusal | null {
  const proposal = data.snapshot?.proposals.find((item) => item.id === proposalId);
  if (proposal === undefined) return { text: 'it is gone', remedy: 'Esc goes back' };
  if (proposal.currentRevision !== revision) {
    return {
      text: `it has a new revision r${proposal.currentRevision}, and you looked at r${revision}`,
      remedy: 'read the new revision, then press a again',
    };
  }
  if (!['draft', 'pending', 'in_review', 'approved'].includes(proposal.status)) {
    return { text: `it is ${statusWords(proposal.status)}`, remedy: 'Esc goes back' };
  }
  const failed = proposal.gates.filter((gate) => gate.status === 'failed' && gate.id !== 'human');
  if (failed.length === 0) return null;
  return {
    text: `${failed.map((gate) => gate.id).join(', ')} ${failed.length === 1 ? 'does' : 'do'} not hold`,
    remedy: failed.map((gate) => gate.remedy).find((remedy) => remedy !== '') ?? 'request changes with m',
  };
}

/** Every gate with its reason, then what saying yes does. */
export function approveRows(data: ScreenData, proposalId: string, revision: number, cells: number): readonly Row[] {
  const proposal = data.snapshot?.proposals.find((item) => item.id === proposalId);
  if (proposal === undefined) return [rowOf(' it is gone: Esc goes back')];
  const refusal = approveRefusal(data, proposalId, revision);
  const rows: Row[] = [rowOf(` ${proposal.title}`, 'strong'), []];
  for (const gate of proposal.gates) {
    const said = gate.id === 'human' && gate.status !== 'passed' ? 'your word, now' : gate.detail;
    for (const [index, line] of wrapText(said, Math.max(8, cells - 20)).entries()) {
      const name = index === 0 ? `${GATE_GLYPH[gate.status]} ${gate.id}` : '';
      rows.push([seg(` ${name.padEnd(17)} `, gateTone(gate.status)), seg(line)]);
    }
    if (gate.status === 'failed' && gate.remedy !== '') {
      for (const [index, line] of wrapText(gate.remedy, Math.max(8, cells - 22)).entries()) {
        rows.push([seg(' '.repeat(19)), seg(`${index === 0 ? '→' : ' '} ${line}`)]);
      }
    }
  }
  rows.push([]);
  const say = (text: string, tone: 'plain' | 'bad' | 'strong' = 'plain'): void => {
    for (const line of wrapText(text, cells - 2)) rows.push(rowOf(` ${line}`, tone));
  };
  if (refusal !== null) {
    say(`Can't be approved: ${refusal.text}.`, 'bad');
    say(`→ ${refusal.remedy}`);
    rows.push([], [seg(' Esc', 'strong'), seg(' back')]);
    return rows;
  }
  say(whatHappens(proposal, data));
  rows.push(
    [],
    [seg(' y', 'strong'), seg(' or '), seg('↵', 'strong'), seg(' approve    '), seg('Esc', 'strong'), seg(' back')],
  );
  return rows;
}

function whatHappens(proposal: ProposalView, data: ScreenData): string {
  const { revision } = proposal;
  const run = data.snapshot?.runs.find((item) => item.id === proposal.runId);
  const target = run === undefined ? 'the target' : shortRef(run.targetRef);
  const change = `${plural(revision.files, 'file')}, +${revision.additions} −${revision.deletions}`;
  if (run?.approveMode === 'never')
    return `Your approval of r${revision.number} is recorded. This run never applies anything.`;
  const open = proposal.gates.filter((gate) => gate.status === 'pending' && gate.id !== 'human').map((gate) => gate.id);
  if (open.length > 0) {
    return `Your approval of r${revision.number} is recorded. It is applied to ${target} (${change}) when ${open.join(', ')} ${open.length === 1 ? 'holds' : 'hold'} too.`;
  }
  return `r${revision.number} is approved and applied to ${target}: ${change}, in one transaction that R can undo. Where transactions.apply is manual, it waits for “roundtable apply ${proposal.id}”.`;
}
