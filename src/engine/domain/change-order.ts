import { foldKey } from './case-fold.ts';

/** A touched path and whether there is a file before and after. */
export interface ChangedPath {
  readonly path: string;
  readonly before: boolean;
  readonly after: boolean;
}

export interface ChangeOrder {
  /** Positions (in the input) of deletions that something else needs out of its way, then the other deletions. */
  readonly firstDeletions: readonly number[];
  readonly lastDeletions: readonly number[];
  readonly edits: readonly number[];
  readonly additions: readonly number[];
  /** Paths with a partner that only differs in case or normalisation: their spelling must be checked on the disk. */
  readonly exact: ReadonlySet<string>;
  /** Directories that must become files, deepest first. */
  readonly replacedDirectories: readonly string[];
}

/** In which order a change may be made so that no path stands in the way of another one. */
export function orderOfChange(changes: readonly ChangedPath[]): ChangeOrder {
  const exact = pathsWithPartners(changes.map((change) => change.path));
  const added = new Set(changes.filter((change) => change.after && !change.before).map((change) => change.path));
  const parentsOfAdded = new Set([...added].flatMap(directoriesAbove));
  const replaced = new Set<string>();
  const firstDeletions: number[] = [];
  const lastDeletions: number[] = [];
  const edits: number[] = [];
  const additions: number[] = [];
  for (const [position, change] of changes.entries()) {
    if (change.before && change.after) edits.push(position);
    else if (change.after) additions.push(position);
    else {
      const above = directoriesAbove(change.path);
      const topmost = above.findIndex((directory) => added.has(directory));
      if (topmost !== -1) for (const directory of above.slice(topmost)) replaced.add(directory);
      const obstructs = topmost !== -1 || parentsOfAdded.has(change.path) || exact.has(change.path);
      (obstructs ? firstDeletions : lastDeletions).push(position);
    }
  }
  return {
    firstDeletions,
    lastDeletions,
    edits,
    additions,
    exact,
    replacedDirectories: [...replaced].sort(deepestFirst),
  };
}

/** Directories above a path, outermost first, without closing slash. */
export function directoriesAbove(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, length) => parts.slice(0, length + 1).join('/'));
}

export function deepestFirst(a: string, b: string): number {
  return b.split('/').length - a.split('/').length || (a < b ? -1 : Number(a > b));
}

function pathsWithPartners(paths: readonly string[]): ReadonlySet<string> {
  const spellings = new Map<string, Set<string>>();
  for (const path of paths) {
    for (const name of [...directoriesAbove(path), path]) {
      const key = foldKey(name);
      const group = spellings.get(key);
      if (group === undefined) spellings.set(key, new Set([name]));
      else group.add(name);
    }
  }
  const ambiguous = (name: string) => (spellings.get(foldKey(name))?.size ?? 0) > 1;
  return new Set(paths.filter((path) => [...directoriesAbove(path), path].some(ambiguous)));
}
