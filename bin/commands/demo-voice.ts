import type { DiffFile, EventRecord, ProposalView } from '../../src/engine/api.ts';
import type { GlobalOptions } from './context.ts';
import type { Output } from './output.ts';

/** How the demo tells its story to people; silent with --json. */
export interface DemoVoice {
  heading(text: string): void;
  say(text: string): void;
  block(text: string): void;
  operator(text: string): void;
  gate(text: string): void;
  diff(proposal: ProposalView, files: readonly DiffFile[]): void;
  event(event: EventRecord): void;
}

export function demoVoice(out: Output, globals: GlobalOptions): DemoVoice {
  const line = (text: string): void => {
    if (!globals.quiet) out.line(text);
  };
  return {
    heading: (text) => {
      line('');
      line(`== ${text}`);
    },
    say: (text) => line(`   ${text}`),
    block: (text) => {
      for (const row of text.split('\n')) line(`   ${row.trimEnd()}`);
    },
    operator: (text) => line(`   operator    ${text}`),
    gate: (text) => line(`   refused     ${text}`),
    diff: (proposal, files) => {
      line('');
      line(`   ${proposal.id} revision ${proposal.currentRevision} by ${proposal.agentId}: ${proposal.title}`);
      for (const file of files) {
        for (const hunk of file.hunks) {
          for (const row of hunk.lines)
            if (row.kind === 'added' || row.kind === 'removed')
              line(`     ${file.path}  ${row.kind === 'added' ? '+' : '-'}${row.text}`);
        }
      }
      line(`     gates: ${proposal.gates.map((gate) => `${gate.id} ${gate.status}`).join(', ')}`);
    },
    event: (event) => {
      const text = sentence(event);
      if (text !== null) line(`   ${text}`);
    },
  };
}

/** The events that carry the story; the rest stays in the log. */
function sentence(event: EventRecord): string | null {
  const { data, entityId } = event;
  switch (event.type) {
    case 'session.starting':
      return `${entityId.padEnd(11)} ${String(data.agentId)} starts on ${String(data.taskId)}, attempt ${String(data.attempt)}, in a fresh container`;
    case 'session.succeeded':
      return `${entityId.padEnd(11)} ended; its container is gone, its change is a proposal`;
    case 'session.failed':
      return `${entityId.padEnd(11)} failed: ${String(data.reason ?? '')}`;
    case 'test.passed':
      return `${entityId.padEnd(11)} tests passed on ${String(data.proposalId)} revision ${String(data.revision)}`;
    case 'test.failed':
      return `${entityId.padEnd(11)} tests FAILED on ${String(data.proposalId)} revision ${String(data.revision)} (exit code ${String(data.exitCode)})`;
    case 'proposal.grafted':
      return `${entityId.padEnd(11)} the branch moved: same change on the new base as revision ${String(data.revision)}, tests run again`;
    case 'transaction.applied':
      return `${entityId.padEnd(11)} ${data.kind === 'rollback' ? 'rolled back' : 'landed'} ${String(data.proposalId)} as commit ${String(data.newCommit).slice(0, 10)}`;
    case 'run.completed':
      return `${entityId.padEnd(11)} completed: ${String(data.reason ?? '')}`;
    default:
      return null;
  }
}
