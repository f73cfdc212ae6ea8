import type { EngineError } from '../domain/errors.ts';
import type { Role } from '../domain/records.ts';
import type { AdapterKind } from '../ports/adapter-catalog.ts';
import { ROLES, roleNamed, singular } from './names.ts';
import { NOT_YET_ENFORCED } from './not-yet-enforced.ts';
import { type ValueOrigin, valueOrigins } from './origins.ts';
import { nearestName, type Problem, problemError } from './problem.ts';
import { type ConfigurationFile, configurationSchema } from './schema.ts';
import { validate } from './validate.ts';
import { readYaml, type YamlSource } from './yaml-source.ts';

interface ConfiguredAgent {
  readonly id: string;
  readonly role: Role;
  readonly adapter: string;
  readonly model: string;
  readonly max_sessions: number;
}

type ConfiguredAdapter = Omit<ConfigurationFile['adapters'][string], 'kind'> & { readonly kind: AdapterKind };

/** A checked configuration: every default filled in, agents expanded, kinds resolved. Names are those of the file. */
export type Configuration = Omit<ConfigurationFile, 'agents' | 'adapters' | 'project_name' | 'limits'> & {
  readonly project_name: string;
  readonly limits: Omit<ConfigurationFile['limits'], 'max_sessions'> & { readonly max_sessions: number };
  readonly agents: readonly ConfiguredAgent[];
  readonly adapters: Readonly<Record<string, ConfiguredAdapter>>;
};

export interface ConfigurationInput {
  /** As shown in messages, e.g. `.roundtable/config.yaml`. */
  readonly file: string;
  readonly text: string;
  /** Name of the project's directory. */
  readonly directoryName: string;
  readonly processors: number;
}

export interface LoadedConfiguration {
  /** Null when there are problems. */
  readonly config: Configuration | null;
  /** Code `config_invalid` (or `image_not_pinned`), `details`: `{file, line, column, key, nearest?}`. */
  readonly problems: readonly EngineError[];
  readonly warnings: readonly string[];
  /** Every value in force with where it comes from; empty when there are problems. */
  readonly origins: readonly ValueOrigin[];
}

const KINDS = ['codex', 'claude', 'gemini', 'opencode', 'generic'] as const satisfies readonly AdapterKind[];

/** Reads the text of a configuration file. Nothing is taken from it unless all of it is valid. */
export function loadConfig(input: ConfigurationInput): LoadedConfiguration {
  const source = readYaml({ text: input.text });
  const given = emptySectionsFilled(source.data);
  const shape =
    source.problems.length > 0
      ? { value: null, problems: source.problems }
      : validate(source, given, configurationSchema);
  if (shape.value === null) return refused(input.file, shape.problems);
  const adapters = resolveAdapters(source, shape.value);
  const agents = expandAgents(source, shape.value);
  const problems = [
    ...adapters.problems,
    ...agents.problems,
    ...unenforced(source, { ...shape.value, adapters: adapters.value }),
  ];
  if (problems.length > 0) return refused(input.file, problems);
  const config: Configuration = {
    ...shape.value,
    project_name: shape.value.project_name ?? input.directoryName,
    limits: {
      ...shape.value.limits,
      max_sessions: shape.value.limits.max_sessions ?? Math.max(2, Math.floor(input.processors / 2)),
    },
    agents: agents.value,
    adapters: adapters.value,
  };
  return { config, problems: [], warnings: unwise(config), origins: valueOrigins(config, given) };
}

function refused(file: string, problems: readonly Problem[]): LoadedConfiguration {
  const inOrder = [...problems].sort((a, b) => a.line - b.line || a.column - b.column);
  return {
    config: null,
    problems: inOrder.map((problem) => problemError('config_invalid', file, problem)),
    warnings: [],
    origins: [],
  };
}

/** `agents:` with nothing but comments below it is an empty mapping to a person; YAML reads null. */
function emptySectionsFilled(data: unknown): unknown {
  if (data === null || data === undefined) return {};
  if (typeof data !== 'object' || Array.isArray(data)) return data;
  const sections = Object.entries(data).map(([key, value]) => [key, value === null ? {} : value] as const);
  return Object.fromEntries(sections);
}

function resolveAdapters(source: YamlSource, file: ConfigurationFile) {
  const problems: Problem[] = [];
  const value: Record<string, ConfiguredAdapter> = {};
  for (const name of Object.keys(file.adapters).sort()) {
    const entry = file.adapters[name];
    if (entry === undefined) continue;
    const kind = entry.kind ?? KINDS.find((known) => known === name);
    if (kind === undefined) {
      const key = `adapters.${name}.kind`;
      problems.push({
        ...source.keyAt(['adapters', name]),
        key,
        message: `${key} is missing, and ${name} is no built-in adapter`,
        remedy: `add kind: with one of ${KINDS.join(', ')}`,
      });
      continue;
    }
    if (entry.supports_resume && entry.resume_pattern === null) {
      const key = `adapters.${name}.resume_pattern`;
      const remedy = 'add resume_pattern: "… {{external_session_id}}"';
      problems.push({
        ...source.keyAt(['adapters', name, 'supports_resume']),
        key,
        message: `${key} is needed by supports_resume`,
        remedy,
      });
    }
    value[name] = { ...entry, kind };
  }
  return { value, problems };
}

function expandAgents(source: YamlSource, file: ConfigurationFile) {
  const problems: Problem[] = [];
  const value: ConfiguredAgent[] = [];
  const origin = new Map<string, string>();
  const adapters = Object.keys(file.adapters).sort();
  for (const [entry, agent] of Object.entries(file.agents)) {
    const name = singular(entry);
    const role = agent.role ?? roleNamed(name);
    const key = `agents.${entry}`;
    if (!adapters.includes(agent.adapter)) {
      const nearest = nearestName(agent.adapter, adapters);
      problems.push({
        ...source.valueAt(['agents', entry, 'adapter']),
        key: `${key}.adapter`,
        message: `${key}.adapter: there is no adapter ${JSON.stringify(agent.adapter)}`,
        remedy:
          nearest !== null
            ? `did you mean ${nearest}?`
            : adapters.length === 0
              ? 'add it under adapters:'
              : `known: ${adapters.join(', ')}`,
        ...(nearest === null ? {} : { nearest }),
      });
    }
    if (role === null) {
      const nearest = nearestName(name, ROLES);
      problems.push({
        ...source.keyAt(['agents', entry]),
        key: `${key}.role`,
        message: `${key}: no role is called ${JSON.stringify(name)}, so role must be given`,
        remedy:
          nearest === null ? `add role: with one of ${ROLES.join(', ')}` : `did you mean ${nearest}? Else add role:`,
        ...(nearest === null ? {} : { nearest }),
      });
      continue;
    }
    const twin = origin.get(name);
    if (twin !== undefined) {
      const message = `${key} and agents.${twin} both make agents called ${name}-1`;
      problems.push({ ...source.keyAt(['agents', entry]), key, message, remedy: 'join the two entries or rename one' });
      continue;
    }
    origin.set(name, entry);
    const { adapter, model, max_sessions } = agent;
    for (let number = 1; number <= agent.count; number++)
      value.push({ id: `${name}-${number}`, role, adapter, model, max_sessions });
  }
  return { value, problems };
}

function unenforced(source: YamlSource, file: unknown): Problem[] {
  return NOT_YET_ENFORCED.flatMap((row) =>
    pathsOf(row.key.split('.'), file)
      .filter(({ value }) => !row.harmless.some((accepted) => JSON.stringify(accepted) === JSON.stringify(value)))
      .map(({ path, value }) => ({
        ...source.valueAt(path),
        key: path.join('.'),
        message: `${path.join('.')}: this version ${row.lacks}, so ${JSON.stringify(value)} would have no effect`,
        remedy: `remove it, or write ${row.harmless.map((accepted) => JSON.stringify(accepted)).join(' or ')}`,
      })),
  );
}

function pathsOf(
  pattern: readonly string[],
  root: unknown,
): readonly { readonly path: readonly string[]; readonly value: unknown }[] {
  let found: { path: readonly string[]; value: unknown }[] = [{ path: [], value: root }];
  for (const part of pattern) {
    found = found.flatMap(({ path, value }) => {
      const entries = Object.entries(value as Record<string, unknown>);
      return entries
        .filter(([key]) => part === '*' || part === key)
        .map(([key, inner]) => ({ path: [...path, key], value: inner }));
    });
  }
  return found;
}

function unwise(config: Configuration): string[] {
  const warnings: string[] = [];
  if (config.agents.length === 0)
    warnings.push('no agents are configured, so no task will be taken; add one under agents:');
  for (const [name, adapter] of Object.entries(config.adapters)) {
    const users = config.agents.filter((agent) => agent.adapter === name).map((agent) => agent.id);
    if (adapter.image === null && users.length > 0) {
      warnings.push(
        `adapters.${name} has no image, so sessions of ${users.join(', ')} are refused; run \`roundtable image build ${name}\``,
      );
    }
  }
  if (config.tests.required.length === 0) {
    warnings.push('tests.required is empty; a policy that requires tests lets nothing through');
  }
  if (config.operator.allow_noninteractive) {
    warnings.push('operator.allow_noninteractive is on: any program that runs as you can decide in your name');
  }
  return warnings;
}
