import { z } from 'zod';
import type { EngineError } from '../domain/errors.ts';
import type { Risk, Role } from '../domain/records.ts';
import { err, ok, type Result } from '../domain/result.ts';
import { complainAboutScope, ROLES } from './names.ts';
import { type Problem, problemError } from './problem.ts';
import { argv } from './schema.ts';
import { ruled, validate } from './validate.ts';
import { readYaml } from './yaml-source.ts';

/** A task as its file says it. Structurally the new task of the API, except that `dependsOn` may hold file stems. */
export interface TaskFile {
  readonly title: string;
  readonly body: string;
  /** Null: the configuration's default scope. */
  readonly readablePaths: readonly string[] | null;
  readonly writablePaths: readonly string[] | null;
  readonly risk: Risk;
  readonly priority: number;
  readonly role: Role;
  readonly agentId: string | null;
  /** Stems of files of the same import (`0001-bootstrap`) or ids of tasks (`T-7`). */
  readonly dependsOn: readonly string[];
  readonly expectedTests: readonly (readonly string[])[];
}

const RISKS = ['low', 'normal', 'high', 'critical'] as const satisfies readonly Risk[];

/**
 * Reads one file of `TASKS.ROUNDTABLE/`: YAML front matter between two `---` lines, then the body. Errors have the code
 * `task_file_invalid` and the position in the file.
 */
export function parseTaskFile(file: string, text: string): Result<TaskFile, readonly [EngineError, ...EngineError[]]> {
  const parts = splitFrontMatter(text);
  if (parts === null) return refused(file, [NO_FRONT_MATTER]);
  const source = readYaml({ text: parts.yaml, lineOffset: 1 });
  if (source.problems.length > 0) return refused(file, source.problems);
  const checked = validate(source, source.data ?? {}, frontMatter);
  if (checked.value === null) return refused(file, checked.problems);
  const { value } = checked;
  return ok({
    title: value.title,
    body: parts.body,
    readablePaths: value.readable_paths ?? null,
    writablePaths: value.writable_paths ?? null,
    risk: value.risk,
    priority: value.priority,
    role: value.role,
    agentId: value.agent ?? null,
    dependsOn: value.depends_on,
    expectedTests: value.expected_tests,
  });
}

/** The name by which other files of the same import may depend on it: `TASKS.ROUNDTABLE/0001-a.md` → `0001-a`. */
export function taskFileStem(file: string): string {
  return file.replace(/^.*\//, '').replace(/\.md$/i, '');
}

const scope = ruled(z.string().min(1), complainAboutScope);
const dependency = ruled(z.string().min(1), (name) =>
  /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)
    ? null
    : {
        message: `${JSON.stringify(name)} is neither a task id nor the stem of a file`,
        remedy: 'write T-7 or 0001-bootstrap',
      },
);
const title = ruled(z.string().trim().min(1).max(200), (line) =>
  /[\r\n]/.test(line)
    ? { message: 'has more than one line', remedy: 'keep one line; the rest belongs below the front matter' }
    : null,
);

const frontMatter = z.strictObject({
  title,
  readable_paths: z.array(scope).min(1).nullish(),
  writable_paths: z.array(scope).nullish(),
  risk: z.enum(RISKS).default('normal'),
  priority: z.int().min(-1000).max(1000).default(0),
  role: z.enum(ROLES).default('Implementer'),
  agent: z
    .string()
    .regex(/^[a-z][a-z0-9_-]*$/)
    .nullish(),
  depends_on: z.array(dependency).default([]),
  expected_tests: z.array(argv).default([]),
});

const NO_FRONT_MATTER: Problem = {
  line: 1,
  column: 1,
  key: '',
  message: 'the file does not begin with front matter',
  remedy: 'begin with a line ---, then title: and the other keys, then a line ---, then the text',
};

function splitFrontMatter(text: string): { yaml: string; body: string } | null {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  if (lines[0]?.trimEnd() !== '---') return null;
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---');
  if (end === -1) return null;
  return {
    yaml: lines.slice(1, end).join('\n'),
    body: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
  };
}

function refused(file: string, problems: readonly Problem[]): Result<never, readonly [EngineError, ...EngineError[]]> {
  const [first, ...others] = problems.map((problem) => problemError('task_file_invalid', file, problem));
  if (first === undefined) throw new Error('a refusal needs a problem');
  return err([first, ...others]);
}
