import { type PathState, sameState } from './recovery.ts';

/** An index entry, or what the base has at a path: mode and blob. Null is "not there". */
export interface Blob {
  readonly mode: string;
  readonly id: string;
}

/** What was found at one touched path while index and reference were locked. */
export interface PathFindings {
  readonly path: string;
  readonly base: Blob | null;
  /** `unmerged` when the index holds conflict stages. */
  readonly index: Blob | null | 'unmerged';
  /** Work-tree bytes as journaled and as found now. */
  readonly before: PathState;
  readonly found: PathState;
  /** Parent directories, outermost first, that are not real directories and not files that this change removes. */
  readonly badParents: readonly string[];
  /** Entries below a path that is a directory and must become a file, which the change does not remove. */
  readonly strangers: readonly string[];
}

export type PathProblem = 'parent_not_directory' | 'index_differs' | 'path_in_the_way' | 'worktree_dirty';

export interface PathVerdict {
  readonly path: string;
  readonly problem: PathProblem;
}

/** Why a path may not be touched, or null. The first reason in the order of severity is given. */
export function verifyPath(findings: PathFindings, trustExecutable: boolean): PathVerdict | null {
  const [bad] = findings.badParents;
  if (bad !== undefined) return { path: bad, problem: 'parent_not_directory' };
  if (!sameEntry(findings.index, findings.base)) return { path: findings.path, problem: 'index_differs' };
  const [stranger] = findings.strangers;
  if (stranger !== undefined) return { path: stranger, problem: 'path_in_the_way' };
  if (sameState(findings.found, findings.before, trustExecutable)) return null;
  return { path: findings.path, problem: findings.base === null ? 'path_in_the_way' : 'worktree_dirty' };
}

export function sameEntry(a: Blob | null | 'unmerged', b: Blob | null): boolean {
  if (a === 'unmerged') return false;
  if (a === null || b === null) return a === b;
  return a.mode === b.mode && a.id === b.id;
}
