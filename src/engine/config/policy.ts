import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { EngineError } from '../domain/errors.ts';
import type { PolicySnapshot } from '../domain/records.ts';
import { ROLES } from './names.ts';
import { type Problem, problemError } from './problem.ts';
import { validate } from './validate.ts';
import { readYaml, type YamlSource } from './yaml-source.ts';

export interface LoadedPolicy {
  /** Null when there are problems. */
  readonly policy: PolicySnapshot | null;
  /** SHA-256 (hex) of the policy's canonical JSON; null when there are problems. */
  readonly digest: string | null;
  /** Code `policy_invalid`; positions are those of the Markdown file. */
  readonly problems: readonly EngineError[];
}

/** What holds where a file says nothing: the strictest that this version can enforce. */
const STRICT: PolicySnapshot = { testsRequired: true, humanApprovalRequired: true };

/**
 * Reads the fenced `yaml` blocks of POLICIES.ROUNDTABLE.md, later ones winning. `null` (no such file) is the strict
 * default. A demand that this version can not enforce is a problem: a gate that does not exist must not look shut.
 */
export function loadPolicy(file: string, markdown: string | null): LoadedPolicy {
  if (markdown === null) return accepted(STRICT);
  const problems: Problem[] = [];
  let policy = STRICT;
  for (const block of yamlBlocks(markdown, problems)) {
    const source = readYaml(block);
    if (source.problems.length > 0) {
      problems.push(...source.problems);
      continue;
    }
    const checked = validate(source, source.data ?? {}, policySchema);
    problems.push(...checked.problems);
    if (checked.value === null) continue;
    problems.push(...unenforced(source, checked.value));
    const demands = checked.value.consensus?.default;
    policy = {
      testsRequired: demands?.tests_required ?? policy.testsRequired,
      humanApprovalRequired: demands?.human_approval_required ?? policy.humanApprovalRequired,
    };
  }
  if (problems.length === 0) return accepted(policy);
  return {
    policy: null,
    digest: null,
    problems: problems.map((problem) => problemError('policy_invalid', file, problem)),
  };
}

function accepted(policy: PolicySnapshot): LoadedPolicy {
  return { policy, digest: policyDigest(policy), problems: [] };
}

/** Keys in alphabetical order, no white space: the same policy has the same digest wherever it was written. */
function policyDigest(policy: PolicySnapshot): string {
  const entries = Object.entries(policy).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify(Object.fromEntries(entries)))
    .digest('hex');
}

const demands = z.strictObject({
  approvals_required: z.int().min(0).max(32).optional(),
  blockers_allowed: z.int().min(0).max(32).optional(),
  tests_required: z.boolean().optional(),
  required_roles: z.array(z.enum(ROLES)).optional(),
  human_approval_required: z.boolean().optional(),
  rollback_plan_required: z.boolean().optional(),
});

const text = z.string().min(1);
const profileName = z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/);

const policySchema = z.strictObject({
  consensus: z.record(profileName, demands).optional(),
  profiles: z
    .record(
      profileName,
      z.strictObject({
        paths: z.array(text).optional(),
        lines: z.array(text).optional(),
        risk: z.array(z.enum(['low', 'normal', 'high', 'critical'])).optional(),
      }),
    )
    .optional(),
  commands: z.strictObject({ dangerous: z.array(text).optional() }).optional(),
});

/** Values of `consensus.default` that ask for nothing beyond what always holds. */
const HARMLESS: Readonly<Record<string, unknown>> = {
  approvals_required: 0,
  blockers_allowed: 0,
  required_roles: [],
  rollback_plan_required: false,
};

function unenforced(source: YamlSource, policy: z.output<typeof policySchema>): Problem[] {
  const found: (readonly string[])[] = [];
  for (const [profile, fields] of Object.entries(policy.consensus ?? {})) {
    if (profile !== 'default') {
      if (Object.keys(fields).length > 0) found.push(['consensus', profile]);
      continue;
    }
    for (const [field, value] of Object.entries(fields)) {
      const harmless = field in HARMLESS ? JSON.stringify(HARMLESS[field]) === JSON.stringify(value) : true;
      if (!harmless) found.push(['consensus', profile, field]);
    }
  }
  for (const name of Object.keys(policy.profiles ?? {})) found.push(['profiles', name]);
  if ((policy.commands?.dangerous ?? []).length > 0) found.push(['commands', 'dangerous']);
  return found.map((path) => ({
    ...source.keyAt(path),
    key: path.join('.'),
    message: `this version does not enforce ${path.join('.')} yet`,
    remedy: 'remove it; only consensus.default.tests_required and human_approval_required are enforced',
  }));
}

/** Contents of the fenced `yaml` blocks, with the number of lines above each. An unclosed fence is a problem. */
function yamlBlocks(markdown: string, problems: Problem[]): { text: string; lineOffset: number }[] {
  const blocks: { text: string; lineOffset: number }[] = [];
  const lines = markdown.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (let index = 0; index < lines.length; index++) {
    const open = /^ {0,3}(`{3,}|~{3,})[ \t]*([^`\s]*)/.exec(lines[index] ?? '');
    const fence = open?.[1];
    if (fence === undefined) continue;
    const closing = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t\\r]*$`);
    const end = lines.findIndex((line, at) => at > index && closing.test(line));
    const isYaml = /^ya?ml$/i.test(open?.[2] ?? '');
    if (isYaml && end === -1) {
      problems.push({
        line: index + 1,
        column: 1,
        key: '',
        message: 'the yaml block is not closed',
        remedy: `end it with a line ${fence}`,
      });
    }
    if (end === -1) break;
    if (isYaml) blocks.push({ text: lines.slice(index + 1, end).join('\n'), lineOffset: index + 1 });
    index = end;
  }
  return blocks;
}
