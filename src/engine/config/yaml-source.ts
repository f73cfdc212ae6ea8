/**
 * Reads YAML that a person wrote, keeping positions. Trusts the parser for syntax; does not trust the text: custom tags,
 * several documents, repeated keys and `__proto__` are refused, aliases are bounded.
 */
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml';
import type { Problem } from './problem.ts';

export interface YamlText {
  readonly text: string;
  /** Lines of the file above this text, for a block inside another file. */
  readonly lineOffset?: number;
}

interface Position {
  readonly line: number;
  readonly column: number;
}

export interface YamlSource {
  /** Plain data; null when there are problems or the text is empty. */
  readonly data: unknown;
  readonly problems: readonly Problem[];
  /** Where the key (or list item) at `path` starts; the nearest existing parent's place when it is not there. */
  keyAt(path: readonly PropertyKey[]): Position;
  /** Where its value starts. */
  valueAt(path: readonly PropertyKey[]): Position;
}

const MAX_ALIASES = 100;

export function readYaml({ text, lineOffset = 0 }: YamlText): YamlSource {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, version: '1.2', merge: false });
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line) + lineOffset, column: Math.max(1, col) };
  };
  const problems: Problem[] = [...document.errors, ...document.warnings].map((fault) => ({
    ...at(fault.pos[0]),
    key: fault.code === 'DUPLICATE_KEY' ? (/^[\w.-]*/.exec(text.slice(fault.pos[0]))?.[0] ?? '') : '',
    message: SYNTAX[fault.code]?.message ?? `YAML: ${fault.message}`,
    remedy:
      SYNTAX[fault.code]?.remedy ?? 'correct the YAML at this place; a value with `: `, `#` or a tab may need quotes',
  }));
  problems.push(...forbiddenNodes(document, at));
  const locate = (path: readonly PropertyKey[], want: 'key' | 'value') => at(offsetOf(document, path, want));
  return {
    ...plainData(document, problems),
    keyAt: (path) => locate(path, 'key'),
    valueAt: (path) => locate(path, 'value'),
  };
}

function plainData(document: Document, problems: Problem[]): Pick<YamlSource, 'data' | 'problems'> {
  if (problems.length > 0) return { data: null, problems };
  try {
    return { data: document.toJS({ maxAliasCount: MAX_ALIASES }), problems };
  } catch (cause) {
    // The parser throws here for aliases that lead nowhere or multiply without bound.
    const message = cause instanceof Error ? cause.message : String(cause);
    problems.push({ line: 1, column: 1, key: '', message: `YAML: ${message}`, remedy: 'write the values out' });
    return { data: null, problems };
  }
}

function forbiddenNodes(document: Document, at: (offset: number) => Position): Problem[] {
  const found: Problem[] = [];
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document) !== undefined) return;
      const message = `the alias *${alias.source} names no anchor above it`;
      found.push({ ...at(startOf(alias)), key: '', message, remedy: 'write the value out, or put it in quotes' });
    },
    Pair: (_, pair) => {
      if (!isScalar(pair.key) || pair.key.value !== '__proto__') return;
      const remedy = 'choose another name';
      found.push({ ...at(startOf(pair.key)), key: '__proto__', message: 'the key __proto__ is not allowed', remedy });
    },
  });
  return found;
}

function offsetOf(document: Document, path: readonly PropertyKey[], want: 'key' | 'value'): number {
  let node: unknown = document.contents;
  let offset = startOf(node);
  for (const [index, part] of path.entries()) {
    const target = isAlias(node) ? node.resolve(document) : node;
    const last = index === path.length - 1;
    if (isMap(target)) {
      const pair = target.items.find((item) => isScalar(item.key) && String(item.key.value) === String(part));
      if (pair === undefined) return offset;
      offset = last && want === 'value' && pair.value !== null ? startOf(pair.value) : startOf(pair.key);
      node = pair.value;
    } else if (isSeq(target)) {
      node = target.items[Number(part)];
      if (node === undefined) return offset;
      offset = startOf(node);
    } else {
      return offset;
    }
  }
  return offset;
}

function startOf(node: unknown): number {
  return (node as Partial<Node> | null)?.range?.[0] ?? 0;
}

const SYNTAX: Readonly<Record<string, { readonly message: string; readonly remedy: string }>> = {
  DUPLICATE_KEY: { message: 'the key is written twice', remedy: 'keep one of the two' },
  TAG_RESOLVE_FAILED: { message: 'YAML tags are not allowed here', remedy: 'write the plain value without the tag' },
  TAB_AS_INDENT: { message: 'a tab is used as indentation', remedy: 'indent with spaces' },
  MULTIPLE_DOCS: { message: 'there is more than one YAML document', remedy: 'keep one and remove the `---` line' },
};
