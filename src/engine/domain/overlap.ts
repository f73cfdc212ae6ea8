import type { GlobMatcher } from './glob.ts';
import { isInside } from './path.ts';
import type { LineRange, Resource } from './resource.ts';

type Of<Type extends Resource['type']> = Extract<Resource, { type: Type }>;

/** Can work on one of the resources disturb work on the other? The same with both exchanged. */
export function overlaps(a: Resource, b: Resource, matches: GlobMatcher): boolean {
  if (RANK[a.type] > RANK[b.type]) return overlaps(b, a, matches);
  switch (a.type) {
    case 'file':
      return fileOverlaps(a, b, matches);
    case 'directory':
      return directoryOverlaps(a, b);
    case 'symbol':
      return b.type === 'symbol' && symbolsOverlap(a, b);
    case 'schema':
      return b.type === 'schema' && a.name === b.name;
    case 'command':
      return b.type === 'command' && onePrefixesTheOther(a.argv, b.argv);
    case 'endpoint':
      return b.type === 'endpoint' && a.method === b.method && a.path === b.path;
  }
}

// A pair is always looked at from the lower rank, so that each rule is written once.
const RANK = { file: 0, directory: 1, symbol: 2, schema: 3, command: 4, endpoint: 5 } as const satisfies Record<
  Resource['type'],
  number
>;

function fileOverlaps(file: Of<'file'>, other: Resource, matches: GlobMatcher): boolean {
  switch (other.type) {
    case 'file':
    case 'symbol':
      return file.path === other.path;
    case 'directory':
      return isInside(other.path, file.path);
    case 'schema':
      return other.globs.some((glob) => matches(glob, file.path));
    case 'command':
    case 'endpoint':
      return false;
  }
}

function directoryOverlaps(directory: Of<'directory'>, other: Resource): boolean {
  if (other.type === 'symbol') return isInside(directory.path, other.path);
  if (other.type !== 'directory') return false;
  return directory.path === other.path || isInside(directory.path, other.path) || isInside(other.path, directory.path);
}

function symbolsOverlap(a: Of<'symbol'>, b: Of<'symbol'>): boolean {
  return a.path === b.path && (a.name === b.name || rangesMeet(a.lines, b.lines));
}

function rangesMeet(a: LineRange, b: LineRange): boolean {
  return a[0] <= b[1] && b[0] <= a[1];
}

function onePrefixesTheOther(a: readonly string[], b: readonly string[]): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  return short.every((argument, index) => argument === long[index]);
}
