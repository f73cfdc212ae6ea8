import type { z } from 'zod';
import type { ErrorCode } from '../domain/errors.ts';
import { displayKey, nearestName, type Problem } from './problem.ts';
import type { YamlSource } from './yaml-source.ts';

/** What a rule of our own says about a value; `null` from a rule means that it is fine. */
export interface Complaint {
  readonly message: string;
  readonly remedy: string;
  readonly code?: ErrorCode;
}

type Issue = z.core.$ZodIssue;

/** Checks the data of a YAML text; every issue becomes a problem with its place and its remedy. */
export function validate<S extends z.ZodType>(
  source: YamlSource,
  data: unknown,
  schema: S,
): { readonly value: z.output<S> | null; readonly problems: readonly Problem[] } {
  const parsed = schema.safeParse(data);
  if (parsed.success) return { value: parsed.data, problems: [] };
  return { value: null, problems: parsed.error.issues.flatMap((issue) => toProblems(source, data, schema, issue)) };
}

/** Makes a schema refuse what `rule` complains about. */
export function ruled<S extends z.ZodType>(schema: S, rule: (value: z.output<S>) => Complaint | null): S {
  return schema.check((context) => {
    const complaint = rule(context.value);
    if (complaint === null) return;
    const { message, ...params } = complaint;
    context.issues.push({ code: 'custom', message, params, input: context.value, continue: true });
  });
}

function toProblems(source: YamlSource, data: unknown, schema: z.ZodType, issue: Issue): Problem[] {
  const path = issue.path;
  const key = displayKey(path);
  const name = key === '' ? 'the document' : key;
  const found = valueAt(data, path);
  const place = found === undefined ? source.keyAt(path) : source.valueAt(path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((unknown) => unknownKey(source, schema, path, unknown));
    case 'invalid_key': {
      const message = `${name}: the name is not acceptable`;
      const remedy = 'begin with a lower-case letter; then lower-case letters, digits, - and _, at most 32';
      return [{ ...source.keyAt(path), key, message, remedy }];
    }
    case 'invalid_type':
      if (found === undefined) {
        return [{ ...place, key, message: `${name} is missing`, remedy: `add it as ${article(issue.expected)}` }];
      }
      return [{ ...place, key, ...wrongType(name, issue.expected, found) }];
    case 'invalid_value': {
      const values = issue.values.map(String);
      const unquoted =
        typeof found === 'string' && issue.values.some((value) => typeof value !== 'string' && String(value) === found);
      if (unquoted)
        return [{ ...place, key, message: `${name} must not be a text`, remedy: 'write it without quotes' }];
      const nearest = typeof found === 'string' ? nearestName(found, values) : null;
      const remedy =
        nearest === null ? `use one of: ${values.join(', ')}` : `did you mean ${nearest}? Known: ${values.join(', ')}`;
      return [
        {
          ...place,
          key,
          message: `${name}: ${show(found)} is not known`,
          remedy,
          ...(nearest === null ? {} : { nearest }),
        },
      ];
    }
    case 'too_small':
    case 'too_big':
      return [{ ...place, key, ...outOfRange(name, issue, found) }];
    case 'custom': {
      const complaint = custom(issue);
      return [{ ...place, key, ...complaint, message: `${name}: ${complaint.message}` }];
    }
    default:
      return [{ ...place, key, message: `${name}: ${issue.message}`, remedy: 'correct the value' }];
  }
}

function custom(issue: z.core.$ZodIssueCustom): Complaint {
  const params = issue.params ?? {};
  const remedy = typeof params.remedy === 'string' ? params.remedy : 'correct the value';
  return {
    message: issue.message,
    remedy,
    ...(typeof params.code === 'string' ? { code: params.code as ErrorCode } : {}),
  };
}

function unknownKey(source: YamlSource, schema: z.ZodType, path: readonly PropertyKey[], unknown: string): Problem {
  const known = keysAt(schema, path);
  const nearest = nearestName(unknown, known);
  const full = displayKey([...path, unknown]);
  return {
    ...source.keyAt([...path, unknown]),
    key: full,
    message: `unknown key ${full}`,
    remedy: nearest === null ? `remove it; known here: ${known.join(', ')}` : `did you mean ${nearest}?`,
    ...(nearest === null ? {} : { nearest }),
  };
}

/** Names that an object of the schema may have at `path`; empty where the schema has no fixed names. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let at = unwrap(schema);
  for (const part of path) {
    const definition = at._zod.def as Definition;
    const next = definition.shape?.[String(part)] ?? definition.valueType ?? definition.element;
    if (next === undefined) return [];
    at = unwrap(next);
  }
  return Object.keys((at._zod.def as Definition).shape ?? {});
}

interface Definition {
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly valueType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly innerType?: z.ZodType;
}

function unwrap(schema: z.ZodType): z.ZodType {
  const inner = (schema._zod.def as Definition).innerType;
  return inner === undefined ? schema : unwrap(inner);
}

function wrongType(name: string, expected: string, found: unknown): { message: string; remedy: string } {
  const message = `${name} must be ${article(expected)}, not ${show(found)}`;
  if (
    typeof found === 'string' &&
    expected !== 'array' &&
    expected !== 'object' &&
    /^(?:[\d.+-]+|true|false)$/.test(found)
  ) {
    return { message, remedy: 'write it without quotes' };
  }
  if (expected === 'array' && typeof found === 'string') {
    const words = found.split(/\s+/).map((word) => JSON.stringify(word));
    return { message, remedy: `write a list, one element per argument: [${words.join(', ')}]` };
  }
  if (expected === 'string') return { message, remedy: 'put it in quotes' };
  return { message, remedy: `give ${article(expected)}` };
}

function outOfRange(
  name: string,
  issue: Extract<Issue, { code: 'too_small' | 'too_big' }>,
  found: unknown,
): { message: string; remedy: string } {
  const [bound, word] = issue.code === 'too_small' ? [issue.minimum, 'at least'] : [issue.maximum, 'at most'];
  if (issue.origin === 'string' && issue.code === 'too_small') {
    return { message: `${name} is empty`, remedy: 'give it a value or remove it' };
  }
  if (issue.origin === 'array' || issue.origin === 'string') {
    const unit = issue.origin === 'array' ? 'elements' : 'characters';
    return { message: `${name} must have ${word} ${bound} ${unit}`, remedy: `give it ${word} ${bound}` };
  }
  const exclusive = issue.inclusive === false ? 'more than' : word;
  return { message: `${name} must be ${exclusive} ${bound}, not ${show(found)}`, remedy: `use ${exclusive} ${bound}` };
}

function article(type: string): string {
  const words: Record<string, string> = {
    int: 'a whole number',
    number: 'a number',
    string: 'a text',
    boolean: 'true or false',
    array: 'a list',
    object: 'a mapping (key: value)',
    record: 'a mapping (key: value)',
  };
  return words[type] ?? type;
}

function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a mapping';
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  let at = data;
  for (const part of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[part];
  }
  return at;
}
