/**
 * Glob matcher on picomatch. Trusts picomatch to translate a glob into a regular expression; trusts no pattern, since
 * some come from an agent's task: such an expression backtracks, so patterns that could take seconds are kept from it.
 */
import picomatch from 'picomatch';
import type { GlobMatcher } from '../domain/glob.ts';

/** A matcher with its own bounded cache of compiled patterns. A pattern with a `globProblem` matches nothing. */
export function createGlobMatcher(): GlobMatcher {
  const compiled = new Map<string, (path: string) => boolean>();
  return (pattern, path) => {
    let matcher = compiled.get(pattern);
    if (matcher === undefined) {
      matcher = compile(pattern);
      if (compiled.size >= MAX_COMPILED) compiled.clear();
      compiled.set(pattern, matcher);
    }
    return matcher(path);
  };
}

/** Why a pattern can't be used, in words for the person who wrote it; null when it can. Ask when a pattern comes in. */
export function globProblem(pattern: string): string | null {
  if (pattern === '') return "a glob can't be empty";
  if (pattern.length > MAX_LENGTH) return `a glob can't be longer than ${MAX_LENGTH} characters`;
  const components = pattern.split('/');
  if (components.filter((component) => component.includes('**')).length > MAX_GLOBSTARS) {
    return `a glob can't hold more than ${MAX_GLOBSTARS} ** components`;
  }
  if (components.some((component) => component.split(/\*+/).length - 1 > MAX_STARS)) {
    return `one component of a glob can't hold more than ${MAX_STARS} stars`;
  }
  return null;
}

const MAX_COMPILED = 1000;
const MAX_LENGTH = 1024;
// Matching takes up to (length of a component)^stars steps: three stars are milliseconds, twelve are years.
const MAX_STARS = 3;
const MAX_GLOBSTARS = 3;

function compile(pattern: string): (path: string) => boolean {
  if (globProblem(pattern) !== null) return () => false;
  // A leading `!` and `@(…)` are ordinary characters here: a scope must never turn into its opposite by a typing slip.
  return picomatch(pattern, { dot: true, nonegate: true, noextglob: true, windows: false });
}
