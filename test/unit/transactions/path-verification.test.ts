import { describe, expect, it } from 'vitest';
import { type PathFindings, verifyPath } from '../../../src/engine/domain/path-verification.ts';
import { ABSENT } from '../../../src/engine/domain/recovery.ts';

const blob = { mode: '100644', id: 'a' };
const state = { kind: 'file', sha256: 's', executable: false } as const;
const clean: PathFindings = {
  path: 'f',
  base: blob,
  index: blob,
  before: state,
  found: state,
  badParents: [],
  strangers: [],
};

describe('the verification of a touched path', () => {
  it('passes a path whose index entry is the base and whose bytes are those of before', () => {
    expect(verifyPath(clean, true)).toBeNull();
    expect(verifyPath({ ...clean, base: null, index: null, before: ABSENT, found: ABSENT }, true)).toBeNull();
  });

  it.each<readonly [string, Partial<PathFindings>, string, string]>([
    ['other bytes', { found: { ...state, sha256: 'mine' } }, 'worktree_dirty', 'f'],
    ['another mode', { found: { ...state, executable: true } }, 'worktree_dirty', 'f'],
    ['a removed file', { found: ABSENT }, 'worktree_dirty', 'f'],
    ['a staged edit', { index: { mode: '100644', id: 'b' } }, 'index_differs', 'f'],
    ['a staged mode', { index: { mode: '100755', id: 'a' } }, 'index_differs', 'f'],
    ['a staged removal', { index: null }, 'index_differs', 'f'],
    ['a conflict', { index: 'unmerged' }, 'index_differs', 'f'],
    ['a file where none was', { base: null, index: null, before: ABSENT }, 'path_in_the_way', 'f'],
    ['a file in a directory that must go', { strangers: ['f/x'] }, 'path_in_the_way', 'f/x'],
    ['a link above it', { badParents: ['d'], index: null }, 'parent_not_directory', 'd'],
  ])('refuses %s', (_, over, problem, path) => {
    expect(verifyPath({ ...clean, ...over }, true)).toEqual({ path, problem });
  });

  it('does not look at the executable bit where git does not trust it', () => {
    expect(verifyPath({ ...clean, found: { ...state, executable: true } }, false)).toBeNull();
  });
});
