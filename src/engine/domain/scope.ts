import type { GlobMatcher } from './glob.ts';

/**
 * Compiles a task's path list into a predicate over normal repository paths. An entry is `.` (everything), a glob (it
 * holds one of `* ? [ {`), or a literal that stands for the file of that name and for everything below the directory
 * of that name. An empty list matches nothing.
 */
export function compileScope(entries: readonly string[], matches: GlobMatcher): (path: string) => boolean {
  const tests = entries.map((entry) => compileEntry(entry, matches));
  return (path) => tests.some((test) => test(path));
}

export function isGlob(entry: string): boolean {
  return /[*?[{]/.test(entry);
}

/**
 * The entries that name one file or directory: what `claims.mode: auto` locks at dispatch. A broad entry (a glob, or
 * `.` for the whole repository) locks nothing, or every task would wait for every other.
 */
export function literalEntries(entries: readonly string[]): readonly string[] {
  return entries.filter((entry) => !isGlob(entry) && trimmed(entry) !== '');
}

function compileEntry(entry: string, matches: GlobMatcher): (path: string) => boolean {
  if (isGlob(entry)) {
    const pattern = entry.startsWith('./') ? entry.slice(2) : entry;
    return (path) => matches(pattern, path);
  }
  const literal = trimmed(entry);
  if (literal === '') return () => true;
  return (path) => path === literal || path.startsWith(`${literal}/`);
}

function trimmed(entry: string): string {
  if (entry === '.' || entry === './') return '';
  const withoutDot = entry.startsWith('./') ? entry.slice(2) : entry;
  return withoutDot.endsWith('/') ? withoutDot.slice(0, -1) : withoutDot;
}
