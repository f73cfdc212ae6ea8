import { rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ObjectId } from '../../../src/engine/domain/ids.ts';
import type { BuiltRevision } from '../../../src/engine/ports/private-repository.ts';
import { git } from '../../support/git-repository.ts';
import {
  LIMITS,
  must,
  openPrivateRoom,
  type PrivateRoom,
  privateRepositoryFor,
  signal,
} from '../../support/private-room.ts';

const LINES = Array.from({ length: 30 }, (_, index) => `line ${index}\n`);
const OLD = { 'a.txt': LINES.join(''), 'b.txt': 'b\n', 'dir/c.txt': 'c\n', bin: Buffer.from([0, 1]) };
const BASES = {
  old: OLD,
  untouchedMoved: { ...OLD, 'b.txt': 'b changed\n', 'new.txt': 'n\n' },
  touchedMoved: { ...OLD, 'a.txt': `first\n${LINES.join('')}` },
  additionTaken: { ...OLD, 'added.txt': 'someone else\n' },
  additionObstructed: { ...OLD, 'added.txt/x': 'someone else\n' },
  collides: { ...OLD, 'Added.txt': 'someone else\n' },
} as const;

let room: PrivateRoom;
let revision: BuiltRevision;
const base = (name: keyof typeof BASES): ObjectId => {
  const commit = room.commits[Object.keys(BASES).indexOf(name)];
  if (commit === undefined) throw new Error('no base');
  return commit;
};
const graft = (newBase: ObjectId) =>
  room.repository.graft({ oldBase: base('old'), resultTree: revision.resultTree, newBase, limits: LIMITS }, signal);

beforeAll(async () => {
  room = openPrivateRoom(Object.values(BASES));
  const patch = Buffer.from(
    [
      '--- a/a.txt\n+++ b/a.txt\n@@ -2,3 +2,3 @@\n line 1\n-line 2\n+LINE 2\n line 3\n',
      '--- /dev/null\n+++ b/added.txt\n@@ -0,0 +1 @@\n+added\n',
      'diff --git a/dir/c.txt b/c.txt\nsimilarity index 100%\nrename from dir/c.txt\nrename to c.txt\n',
    ].join(''),
  );
  const spec = { baseCommit: base('old'), patch, limits: LIMITS };
  revision = must(await room.repository.revisionFromPatch(spec, signal));
});
afterAll(() => room.close());

describe('a graft', () => {
  it('makes the same change on a base in which nothing it touches has moved', async () => {
    const grafted = must(await graft(base('untouchedMoved')));
    expect(grafted).toMatchObject({ baseCommit: base('untouchedMoved'), patchDigest: revision.patchDigest, via: null });
    expect(grafted?.changes).toEqual(revision.changes);
    const ids = must(await room.repository.entryIds(grafted?.resultTree ?? revision.baseTree, ['new.txt'], signal));
    expect(ids.size).toBe(1);
  });

  it.each(['touchedMoved', 'additionTaken', 'additionObstructed'] as const)('is not possible on %s', async (name) => {
    expect(await graft(base(name))).toEqual({ ok: true, value: null });
  });

  it('is refused where the new base makes a touched path collide', async () => {
    expect(await graft(base('collides'))).toMatchObject({ ok: false, error: { reason: 'collision_case' } });
  });
});

describe('what a revision looks like', () => {
  const diff = (contextLines: number, maxLinesPerFile: number, detectRenames = true) =>
    room.repository.diff(
      revision.baseTree,
      revision.resultTree,
      { contextLines, maxLinesPerFile, detectRenames },
      signal,
    );

  it('is a diff with numbered lines and renames paired', async () => {
    const files = must(await diff(1, 100));
    expect(files.map(({ path: name, status, renamedFrom }) => [name, status, renamedFrom])).toEqual([
      ['a.txt', 'modified', null],
      ['added.txt', 'added', null],
      ['c.txt', 'renamed', 'dir/c.txt'],
    ]);
    expect(files[0]?.hunks).toEqual([
      {
        header: '@@ -2,3 +2,3 @@ line 0',
        oldStart: 2,
        oldLines: 3,
        newStart: 2,
        newLines: 3,
        lines: [
          { kind: 'context', text: 'line 1', oldLine: 2, newLine: 2 },
          { kind: 'removed', text: 'line 2', oldLine: 3, newLine: null },
          { kind: 'added', text: 'LINE 2', oldLine: null, newLine: 3 },
          { kind: 'context', text: 'line 3', oldLine: 4, newLine: 4 },
        ],
      },
    ]);
    expect(must(await diff(1, 100, false)).map(({ status }) => status)).toEqual([
      'modified',
      'added',
      'added',
      'deleted',
    ]);
  });

  it('is cut at the bound, and says so', async () => {
    const [file] = must(await diff(10, 4));
    expect(file).toMatchObject({ truncated: true, additions: 1, deletions: 1 });
    expect(file?.hunks.flatMap(({ lines }) => lines)).toHaveLength(4);
  });

  it('shows content that looks like headers as content', async () => {
    const text = '-- a/x\n++ b/x\n@@ -1 +1 @@\ndiff --git a/x b/x\n';
    const added = text.split('\n').slice(0, -1);
    const patch = Buffer.from(
      `--- /dev/null\n+++ b/t.txt\n@@ -0,0 +1,4 @@\n${added.map((line) => `+${line}\n`).join('')}`,
    );
    const spec = { baseCommit: base('old'), patch, limits: LIMITS };
    const built = must(await room.repository.revisionFromPatch(spec, signal));
    const options = { contextLines: 3, maxLinesPerFile: 100, detectRenames: true };
    const files = must(await room.repository.diff(built.baseTree, built.resultTree, options, signal));
    expect(files).toHaveLength(1);
    expect(files[0]?.hunks[0]?.lines.map((line) => line.text)).toEqual(added);
    expect(built).toMatchObject({ additions: 4, deletions: 0 });
  });

  it('is kept under a name, again and again, as a commit on its base', async () => {
    must(await room.repository.keep('P-7', 2, revision, signal));
    must(await room.repository.keep('P-7', 2, revision, signal));
    const kept = git(path.join(room.dir, 'objects.git'), ['log', '--format=%T %P', 'refs/revisions/P-7/2', '-1']);
    expect(kept).toBe(`${revision.resultTree} ${revision.baseCommit}`);
    expect(git(path.join(room.dir, 'objects.git'), ['fsck', '--connectivity-only'])).not.toContain('missing');
    expect(git(room.userGitDir, ['for-each-ref']).includes('revisions')).toBe(false);
  });

  it('answers for single paths, of trees and of commits', async () => {
    const { repository } = room;
    expect(must(await repository.readFile(base('old'), 'b.txt', 10, signal))).toEqual(Buffer.from('b\n'));
    expect(must(await repository.readFile(base('old'), 'dir', 10, signal))).toBeNull();
    expect(must(await repository.readFile(base('old'), 'missing', 10, signal))).toBeNull();
    expect(await repository.readFile(base('old'), 'a.txt', 10, signal)).toMatchObject({
      error: { code: 'git_failed' },
    });
    const ids = must(await repository.entryIds(base('old'), ['b.txt', 'dir/c.txt', 'none', 'b.txt/x'], signal));
    expect([...ids.keys()].sort()).toEqual(['b.txt', 'dir/c.txt']);
  });
});

describe('the private repository', () => {
  it('takes a cancelled signal for an answer', async () => {
    const cancelled = AbortSignal.abort();
    const answer = await room.repository.ensureBase(base('old'), cancelled);
    const views = { contextLines: 3, maxLinesPerFile: 10, detectRenames: false };
    const diff = await room.repository.diff(revision.baseTree, revision.resultTree, views, cancelled);
    expect([answer.ok, diff]).toMatchObject([true, { ok: false, error: { code: 'cancelled' } }]);
  });

  it('says which commit is missing', async () => {
    const answer = await room.repository.ensureBase('f'.repeat(40) as ObjectId, signal);
    expect(answer).toMatchObject({ ok: false, error: { code: 'base_missing' } });
  });

  it('says when there is no repository', async () => {
    const elsewhere = room.directory();
    const answer = await privateRepositoryFor(elsewhere, path.join(elsewhere, 'none')).ensureBase(base('old'), signal);
    expect(answer).toMatchObject({ ok: false, error: { code: 'not_a_repository' } });
  });

  it('is made anew after its creation was cut short', async () => {
    const dir = room.directory();
    must(await privateRepositoryFor(dir, room.userGitDir).ensureBase(base('old'), signal));
    rmSync(path.join(dir, 'objects.git', 'roundtable-ready'));
    rmSync(path.join(dir, 'objects.git', 'bases', 'info'), { recursive: true });
    must(await privateRepositoryFor(dir, room.userGitDir).ensureBase(base('collides'), signal));
  });

  it('sweeps what a killed process left, and nothing else', async () => {
    const { repository } = room;
    const matcher = must(await repository.ignoreMatcher(revision.baseTree, signal));
    await repository.sweep();
    matcher.close();
    must(await repository.ensureBase(base('old'), signal));
    expect(must(await repository.readFile(revision.resultTree, 'added.txt', 10, signal))).toEqual(
      Buffer.from('added\n'),
    );
  });
});
