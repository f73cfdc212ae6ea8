import type { NewTask } from '../../src/engine/api.ts';

const TITLE_LENGTH = 200;

/** A task from words alone: the first line is its title, all of it what the agent reads. Scope by default. */
export function taskFromText(text: string): NewTask {
  const [first = ''] = text.trim().split(/\r?\n/, 1);
  return {
    title: first.length > TITLE_LENGTH ? `${first.slice(0, TITLE_LENGTH - 1)}…` : first,
    body: text.trim(),
    readablePaths: null,
    writablePaths: null,
    risk: 'normal',
    priority: 0,
    role: 'Implementer',
    agentId: null,
    dependsOn: [],
    expectedTests: [],
  };
}
