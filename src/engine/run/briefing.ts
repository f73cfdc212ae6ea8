import type { TaskRecord } from '../domain/records.ts';

export interface BriefingInput {
  readonly task: TaskRecord;
  readonly projectName: string;
  readonly seededFiles: number;
  readonly withheld: readonly string[];
  readonly requiredTests: readonly string[];
  /** Earlier revision of the same proposal that the workspace starts from; null for a fresh start. */
  readonly continuesRevision: number | null;
}

/** The prompt of a session: the task in the operator's words, then the rules of the room. */
export function composePrompt(input: BriefingInput): string {
  const { task } = input;
  const parts = [task.title, ...(task.body.trim() === '' ? [] : ['', task.body.trim()]), '', ...rules(input)];
  if (task.feedback !== null) parts.push('', '## What happened before', '', task.feedback);
  if (input.continuesRevision !== null)
    parts.push(
      '',
      `The workspace already holds your revision ${input.continuesRevision}; /roundtable/source is the same. Go on from it.`,
    );
  return `${parts.join('\n')}\n`;
}

/** The same facts for programs that read a file of their own. */
export function composeBriefing(input: BriefingInput): string {
  const { task } = input;
  return `${[
    `# Task ${task.id}: ${task.title}`,
    '',
    `Project: ${input.projectName}`,
    `Risk: ${task.risk}`,
    `Attempt: ${task.attempts}`,
    '',
    ...(task.body.trim() === '' ? [] : [task.body.trim(), '']),
    ...rules(input),
    ...(task.feedback === null ? [] : ['', '## What happened before', '', task.feedback]),
  ].join('\n')}\n`;
}

function rules(input: BriefingInput): readonly string[] {
  const { task } = input;
  return [
    '## Rules of this room',
    '',
    `- The workspace is the current directory and holds ${input.seededFiles} files of the project; the original is read-only at /roundtable/source.`,
    task.writablePaths.some((entry) => entry === '.' || entry === './')
      ? '- Any file of the workspace may be changed.'
      : `- Change only: ${task.writablePaths.join(', ')} (a change elsewhere is refused).`,
    '- Leave the change in the workspace when you end; it becomes a proposal. Do not commit, there is nothing to push to.',
    '- Symbolic links, submodules and files outside the scope are refused. There is no network.',
    ...(input.requiredTests.length > 0
      ? [`- These commands must pass afterwards: ${input.requiredTests.join(' ; ')}`]
      : []),
    ...(input.withheld.length > 0
      ? [`- Withheld as sensitive, never create them: ${input.withheld.slice(0, 20).join(', ')}`]
      : []),
  ];
}
