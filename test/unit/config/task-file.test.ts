import { describe, expect, it } from 'vitest';
import { parseTaskFile, taskFileStem } from '../../../src/engine/config/task-file.ts';

const parse = (text: string) => parseTaskFile('TASKS.ROUNDTABLE/0001-a.md', text);

describe('a task file', () => {
  it('gives all that it says', () => {
    const text =
      '---\ntitle: Add a check\nreadable_paths: [src, "docs/**"]\nwritable_paths: [src/a.ts]\nrisk: high\npriority: 5\n' +
      'role: Tester\nagent: tester-1\ndepends_on: [0000-base, T-3]\nexpected_tests: [[npm, test]]\n---\n\nDo it.\n\n---\nwell.\n';
    expect(parse(text)).toEqual({
      ok: true,
      value: {
        title: 'Add a check',
        body: 'Do it.\n\n---\nwell.',
        readablePaths: ['src', 'docs/**'],
        writablePaths: ['src/a.ts'],
        risk: 'high',
        priority: 5,
        role: 'Tester',
        agentId: 'tester-1',
        dependsOn: ['0000-base', 'T-3'],
        expectedTests: [['npm', 'test']],
      },
    });
  });

  it('needs a title only', () => {
    const parsed = parse('---\r\ntitle: Small\r\n---\r\nText\r\n');
    expect(parsed).toMatchObject({
      ok: true,
      value: {
        title: 'Small',
        body: 'Text',
        readablePaths: null,
        writablePaths: null,
        risk: 'normal',
        priority: 0,
        role: 'Implementer',
      },
    });
  });

  const refused: readonly { why: string; text: string; at: string; says: string; remedy: string }[] = [
    {
      why: 'no front matter',
      text: '# Title\n',
      at: '1:1',
      says: 'does not begin with front matter',
      remedy: 'title:',
    },
    { why: 'front matter without an end', text: '---\ntitle: x\n', at: '1:1', says: 'front matter', remedy: '---' },
    { why: 'no title', text: '---\nrisk: low\n---\n', at: '2:1', says: 'title is missing', remedy: 'add it' },
    {
      why: 'a mistyped key',
      text: '---\ntitle: x\nwriteable_paths: [a]\n---\n',
      at: '3:1',
      says: 'unknown key writeable_paths',
      remedy: 'did you mean writable_paths?',
    },
    {
      why: 'a path that leaves',
      text: '---\ntitle: x\nwritable_paths: [../a]\n---\n',
      at: '3:18',
      says: 'path_dotdot',
      remedy: 'leave out',
    },
    {
      why: 'the git directory',
      text: '---\ntitle: x\nwritable_paths: [.git/hooks]\n---\n',
      at: '3:18',
      says: 'path_git_dir',
      remedy: 'another name',
    },
    {
      why: 'an exclusion',
      text: '---\ntitle: x\nreadable_paths: ["!src"]\n---\n',
      at: '3:18',
      says: 'can not exclude',
      remedy: 'list what is inside',
    },
    {
      why: 'nothing to read',
      text: '---\ntitle: x\nreadable_paths: []\n---\n',
      at: '3:17',
      says: 'at least 1',
      remedy: 'at least 1',
    },
    {
      why: 'a command line',
      text: '---\ntitle: x\nexpected_tests: [npm test]\n---\n',
      at: '3:18',
      says: 'must be a list',
      remedy: '["npm", "test"]',
    },
    {
      why: 'an unknown risk',
      text: '---\ntitle: x\nrisk: hihg\n---\n',
      at: '3:7',
      says: '"hihg" is not known',
      remedy: 'did you mean high?',
    },
    {
      why: 'a title of two lines',
      text: '---\ntitle: "a\\nb"\n---\n',
      at: '2:8',
      says: 'more than one line',
      remedy: 'keep one line',
    },
    { why: 'broken YAML', text: '---\ntitle: [x\n---\n', at: '2:10', says: 'YAML', remedy: 'correct' },
  ];
  it.each(refused)('is refused for $why, at its place', ({ text, at, says, remedy }) => {
    const parsed = parse(text);
    if (parsed.ok) throw new Error('accepted');
    const [problem] = parsed.error;
    expect(problem.code).toBe('task_file_invalid');
    expect(problem.message).toContain(`TASKS.ROUNDTABLE/0001-a.md:${at}: `);
    expect(problem.message).toContain(says);
    expect(problem.remedy).toContain(remedy);
  });

  it('is known to others by its stem', () => {
    expect(taskFileStem('TASKS.ROUNDTABLE/0001-a.md')).toBe('0001-a');
  });
});
