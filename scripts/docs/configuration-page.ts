import { NOT_YET_ENFORCED, notYetEnforced } from '../../src/engine/config/not-yet-enforced.ts';
import { GENERATED_NOTE } from './note.ts';

/** The part of JSON Schema that the configuration's schema uses. */
interface Schema {
  readonly type?: string | undefined;
  readonly description?: string | undefined;
  readonly unit?: unknown;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[] | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly exclusiveMinimum?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly required?: readonly string[] | undefined;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
  readonly additionalProperties?: unknown;
  readonly items?: unknown;
  readonly anyOf?: readonly unknown[] | undefined;
}

interface Row {
  readonly key: string;
  readonly schema: Schema;
  readonly required: boolean;
}

/** `docs/configuration.md`: every key with its values, default, unit, meaning and whether it has an effect yet. */
export function configurationPage(root: unknown): string {
  const rows = rowsOf(root as Schema, '', false);
  const sections = new Map<string, Row[]>();
  for (const row of rows) {
    const section = row.key.includes('.') ? (row.key.split('.')[0] ?? '') : '';
    sections.set(section, [...(sections.get(section) ?? []), row]);
  }
  const tables = [...sections].map(([section, of]) => {
    const heading = section === '' ? 'Top level' : `\`${section}\``;
    return `## ${heading}\n\n| key | values | default | meaning |\n| --- | --- | --- | --- |\n${of.map(line).join('\n')}\n`;
  });
  const later = NOT_YET_ENFORCED.map(
    ({ key, harmless, lacks }) =>
      `| \`${key}\` | ${harmless.map((value) => code(JSON.stringify(value))).join(', ')} | This version ${lacks}. |`,
  );
  return `${GENERATED_NOTE}
# Configuration

\`.roundtable/config.yaml\` is YAML, checked as a whole before anything of it is used. An unknown key, a key written twice or a
value out of range is an error with file, line and column; \`roundtable config check\` prints all of them, \`roundtable config
show\` prints every value in force and where it comes from. In the keys below, \`NAME\` stands for a name that you choose:
lower-case letters, digits, \`-\` and \`_\`. Secrets never stand in this file.

${tables.join('\n')}
## Limited in this version

These keys belong to parts that this version does not have. They may hold the values shown, which ask for nothing; any other
value is an error, because a bound that is silently ignored is worse than none.

| key | accepted | why |
| --- | --- | --- |
${later.join('\n')}
`;
}

function rowsOf(schema: Schema, key: string, required: boolean): Row[] {
  const { value } = withoutNull(schema);
  const names = Object.entries(value.properties ?? {});
  if (names.length > 0) {
    const own = key === '' || schema.description === undefined ? [] : [{ key, schema, required }];
    const inner = names.flatMap(([name, property]) =>
      rowsOf(property as Schema, key === '' ? name : `${key}.${name}`, (value.required ?? []).includes(name)),
    );
    return [...own, ...inner];
  }
  const entries = value.additionalProperties as Schema | boolean | undefined;
  const own = { key, schema, required };
  if (typeof entries === 'object' && entries.properties !== undefined)
    return [own, ...rowsOf(entries, `${key}.NAME`, false)];
  return [own];
}

function line({ key, schema, required }: Row): string {
  const later = notYetEnforced(key.replaceAll('NAME', '*')) === null ? '' : ' *Limited in this version, see below.*';
  const fallback = required
    ? 'must be given'
    : schema.default === undefined
      ? 'see meaning'
      : code(JSON.stringify(schema.default));
  return `| \`${key}\` | ${values(schema)} | ${fallback} | ${schema.description ?? ''}${later} |`;
}

function values(schema: Schema): string {
  const { value, nullable } = withoutNull(schema);
  const unit = typeof schema.unit === 'string' ? ` ${schema.unit}` : '';
  return `${kind(value)}${unit}${nullable ? ', or null' : ''}`;
}

function kind(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => code(String(value))).join(', ');
  if (schema.const !== undefined) return code(String(schema.const));
  switch (schema.type) {
    case 'integer':
    case 'number':
      return range(schema);
    case 'boolean':
      return '`true`, `false`';
    case 'array': {
      const items = schema.items as Schema;
      return items.type === 'array' ? 'list of commands, each a list of arguments' : 'list of texts';
    }
    case 'object':
      return schema.properties === undefined ? 'mapping NAME → value' : 'mapping';
    default:
      return schema.maxLength === undefined ? 'text' : `text of at most ${schema.maxLength} characters`;
  }
}

function range({ minimum, maximum, exclusiveMinimum }: Schema): string {
  // The largest safe integer is what the schema language says for "no bound".
  const top = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? null : maximum;
  if (exclusiveMinimum !== undefined) return `more than ${exclusiveMinimum}`;
  return top === null ? `from ${minimum ?? 0}` : `${minimum ?? 0} to ${top}`;
}

function withoutNull(schema: Schema): { readonly value: Schema; readonly nullable: boolean } {
  const others = (schema.anyOf ?? []).filter((option) => (option as Schema).type !== 'null');
  const [only] = others;
  return only === undefined ? { value: schema, nullable: false } : { value: only as Schema, nullable: true };
}

/** Code in a table cell: a bar would end the cell. */
function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}
