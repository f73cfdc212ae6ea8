import { describe, expect, it } from 'vitest';
import { loadPolicy } from '../../../src/engine/config/policy.ts';

const block = (yaml: string) => `# Policy\n\nProse.\n\n\`\`\`yaml\n${yaml}\n\`\`\`\n`;
const load = (markdown: string | null) => loadPolicy('POLICIES.ROUNDTABLE.md', markdown);

describe('the policy', () => {
  it('is strict where there is no file, no block, or no word', () => {
    for (const text of [null, '# only prose\n', block('consensus: {}'), '```js\nconsensus: 1\n```\n']) {
      expect(load(text).policy).toEqual({ testsRequired: true, humanApprovalRequired: true });
    }
  });

  it('merges its blocks in order, field by field', () => {
    const first = block('consensus: {default: {tests_required: false, human_approval_required: false}}');
    const second = block('consensus:\n  default: {tests_required: true}');
    expect(load(first + second).policy).toEqual({ testsRequired: true, humanApprovalRequired: false });
  });

  it('has one digest for one meaning', () => {
    const strict = load(null).digest;
    expect(strict).toMatch(/^[0-9a-f]{64}$/);
    expect(load(block('consensus: {default: {human_approval_required: true}}')).digest).toBe(strict);
    expect(load(block('consensus: {default: {human_approval_required: false}}')).digest).not.toBe(strict);
  });

  it('accepts fields that ask for nothing', () => {
    const yaml =
      'consensus: {default: {approvals_required: 0, blockers_allowed: 0, required_roles: [], rollback_plan_required: false}}';
    expect(load(block(yaml)).problems).toEqual([]);
  });

  const refused: readonly { why: string; yaml: string; at: string; says: string; remedy: string }[] = [
    {
      why: 'a number in quotes',
      yaml: 'consensus:\n  default:\n    approvals_required: "2"',
      at: '8:25',
      says: 'must be a number, not "2"',
      remedy: 'without quotes',
    },
    {
      why: 'votes',
      yaml: 'consensus:\n  default:\n    approvals_required: 1',
      at: '8:5',
      says: 'does not enforce consensus.default.approvals_required yet',
      remedy: 'remove it',
    },
    {
      why: 'roles',
      yaml: 'consensus: {default: {required_roles: [Security]}}',
      at: '6:23',
      says: 'required_roles yet',
      remedy: 'remove it',
    },
    {
      why: 'rollback plans',
      yaml: 'consensus: {default: {rollback_plan_required: true}}',
      at: '6:23',
      says: 'rollback_plan_required yet',
      remedy: 'remove it',
    },
    {
      why: 'a profile',
      yaml: 'consensus:\n  security: {human_approval_required: true}',
      at: '7:3',
      says: 'consensus.security yet',
      remedy: 'remove it',
    },
    {
      why: 'profile globs',
      yaml: 'profiles:\n  auth: {paths: ["**/auth/**"]}',
      at: '7:3',
      says: 'profiles.auth yet',
      remedy: 'remove it',
    },
    {
      why: 'dangerous commands',
      yaml: 'commands:\n  dangerous: ["rm -rf"]',
      at: '7:3',
      says: 'commands.dangerous yet',
      remedy: 'remove it',
    },
    {
      why: 'a mistyped key',
      yaml: 'consensus: {default: {test_required: true}}',
      at: '6:23',
      says: 'unknown key',
      remedy: 'did you mean tests_required?',
    },
    {
      why: 'a key written twice',
      yaml: 'profiles: {}\nprofiles: {}',
      at: '7:1',
      says: 'written twice',
      remedy: 'keep one',
    },
  ];
  it.each(refused)('is refused for $why, at its place in the Markdown file', ({ yaml, at, says, remedy }) => {
    const { policy, digest, problems } = load(block(yaml));
    expect([policy, digest]).toEqual([null, null]);
    expect(problems[0]?.code).toBe('policy_invalid');
    expect(problems[0]?.message).toContain(`POLICIES.ROUNDTABLE.md:${at}: `);
    expect(problems[0]?.message).toContain(says);
    expect(problems[0]?.remedy).toContain(remedy);
  });

  it('is refused when a block is not closed, instead of ending early', () => {
    const { problems } = load('# P\n\n```yaml\nconsensus: {}\n');
    expect(problems[0]?.message).toContain('POLICIES.ROUNDTABLE.md:3:1: the yaml block is not closed');
  });

  it('does not take a block inside a longer fence for its own', () => {
    const text = '````md\n```yaml\nconsensus: {default: {tests_required: false}}\n```\n````\n';
    expect(load(text).policy?.testsRequired).toBe(true);
  });

  it('reads files with CRLF line ends', () => {
    const text = block('consensus:\n  default: {tests_required: false}').replaceAll('\n', '\r\n');
    expect(load(text).policy?.testsRequired).toBe(false);
  });
});
