/** One value in force: dotted key, value, and whether the file says it. */
export interface ValueOrigin {
  readonly key: string;
  readonly value: unknown;
  readonly origin: 'file' | 'default';
}

/**
 * Flattens a configuration into its leaves. Lists and empty mappings are leaves; the expanded agents appear by id. A
 * leaf is from the file when the data as written has something at its key.
 */
export function valueOrigins(config: object, written: unknown): readonly ValueOrigin[] {
  const found: ValueOrigin[] = [];
  walk(config, written, '', found);
  return found;
}

function walk(value: object, written: unknown, prefix: string, found: ValueOrigin[]): void {
  for (const [name, inner] of Object.entries(value)) {
    const key = prefix === '' ? name : `${prefix}.${name}`;
    const given = property(written, name);
    if (key === 'agents') {
      for (const agent of inner as readonly { readonly id: string }[])
        found.push({ key: `agents.${agent.id}`, value: agent, origin: 'file' });
    } else if (typeof inner === 'object' && inner !== null && !Array.isArray(inner) && Object.keys(inner).length > 0) {
      walk(inner, given, key, found);
    } else {
      found.push({ key, value: inner, origin: given === undefined ? 'default' : 'file' });
    }
  }
}

function property(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
