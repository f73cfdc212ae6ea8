import type { ProposalRecord, RunRecord, TaskRecord } from './records.ts';

export interface MessageParts {
  readonly proposal: ProposalRecord;
  readonly task: TaskRecord;
  readonly run: RunRecord;
}

/** Placeholders of `transactions.message_template`. */
export const MESSAGE_PLACEHOLDERS = ['title', 'body', 'proposal', 'task', 'run', 'agent'] as const;

/** Subject and body of the commit that lands a proposal; trailers come below. Without a template: title, then the task's body. */
export function commitMessage(parts: MessageParts, template: string | null): string {
  const { proposal, task, run } = parts;
  const values: Record<(typeof MESSAGE_PLACEHOLDERS)[number], string> = {
    title: oneLine(proposal.title),
    body: plain(task.body).trim(),
    proposal: proposal.id,
    task: task.id,
    run: run.id,
    agent: proposal.agentId,
  };
  const text = (template ?? '{{title}}\n\n{{body}}').replace(/\{\{(\w+)\}\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? values[name as keyof typeof values] : whole,
  );
  const message = text.trim().replace(/\n{3,}/g, '\n\n');
  return message === '' ? proposal.id : message;
}

export function rollbackMessage(
  original: { readonly title: string; readonly transactionId: string; readonly commit: string | null },
  reason: string,
): string {
  const reverted = original.commit === null ? '' : `This reverts commit ${original.commit}.`;
  return [`Revert "${oneLine(original.title)}"`, reverted, plain(reason).trim()]
    .filter((part) => part !== '')
    .join('\n\n');
}

function oneLine(text: string): string {
  return plain(text).replace(/\s+/g, ' ').trim();
}

/** Text of agents and tasks is data: control characters have no place in a commit message. */
function plain(text: string): string {
  return [...text]
    .filter((char) => char === '\n' || char === '\t' || !/[\u0000-\u001f\u007f-\u009f]/.test(char))
    .join('');
}
