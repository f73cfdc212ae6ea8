import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ObjectId } from '../../../src/engine/domain/ids.ts';
import { git } from '../../support/git-repository.ts';
import {
  contentOf,
  LIMITS,
  must,
  openPrivateRoom,
  privateRepositoryFor,
  reportOf,
  signal,
} from '../../support/private-room.ts';

const everything = { inScope: () => true, withhold: () => false };
let dir: string;
let source: string;
let count = 0;

const fresh = () => {
  const made = path.join(dir, `dir-${count++}`);
  mkdirSync(made);
  return made;
};
const head = (cwd: string) => git(cwd, ['rev-parse', 'HEAD']) as ObjectId;

/** A commit is laid out, edited as a workspace, and becomes a revision whose diff is the edit. */
async function roundTrip(userGitDir: string, commit: ObjectId) {
  const repository = privateRepositoryFor(fresh(), userGitDir);
  const targetDir = fresh();
  const provisioned = await repository.provision({ commit, ...everything, targetDir }, signal);
  if (!provisioned.ok) return provisioned;
  const before = contentOf(targetDir);
  writeFileSync(path.join(targetDir, 'a.txt'), 'edited\n');
  const spec = { baseCommit: commit, seeded: provisioned.value.seeded, ...everything, dir: targetDir, limits: LIMITS };
  const revision = must(await repository.revisionFromWorkspace({ ...spec, report: reportOf(targetDir) }, signal));
  must(await repository.keep('P-1', 1, revision, signal));
  return { ok: true as const, value: { before, touched: revision.changes.map((change) => change.path), revision } };
}

beforeAll(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'rt-shapes-'));
  source = path.join(dir, 'source');
  git(dir, ['init', '--quiet', '--initial-branch=main', 'source']);
  for (const [index, text] of ['one\n', 'two\n', 'three\n'].entries()) {
    mkdirSync(path.join(source, 'sub'), { recursive: true });
    writeFileSync(path.join(source, 'a.txt'), text);
    writeFileSync(path.join(source, 'sub', `b${index}.txt`), text);
    git(source, ['add', '-A']);
    git(source, ['commit', '--quiet', '-m', `commit ${index}`]);
  }
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('the private repository works from', () => {
  it('a shallow clone, at its boundary too', async () => {
    const clone = fresh();
    git(dir, ['clone', '--quiet', '--depth=2', `file://${source}`, clone]);
    const boundary = git(clone, ['rev-parse', 'HEAD^']) as ObjectId;
    for (const commit of [head(clone), boundary]) {
      expect(must(await roundTrip(path.join(clone, '.git'), commit)).touched).toEqual(['a.txt']);
    }
  });

  it('a sparse checkout and a linked worktree, whatever their work trees hold', async () => {
    const clone = fresh();
    git(dir, ['clone', '--quiet', '--sparse', `file://${source}`, clone]);
    const linked = path.join(fresh(), 'linked');
    git(clone, ['worktree', 'add', '--quiet', '--detach', linked, 'HEAD~1']);
    const common = git(linked, ['rev-parse', '--path-format=absolute', '--git-common-dir']);
    const { before } = must(await roundTrip(common, head(clone)));
    expect(Object.keys(before)).toEqual(['a.txt', 'sub/b0.txt', 'sub/b1.txt', 'sub/b2.txt']);
    expect(Object.keys(must(await roundTrip(common, head(linked))).before)).toHaveLength(3);
  });

  it('a repository with SHA-256 ids', async () => {
    const room = openPrivateRoom([{ 'a.txt': 'a\n', link: 'link:a.txt', 'x:run': 'r\n' }], 'sha256');
    try {
      const [commit] = room.commits;
      if (commit === undefined) throw new Error('no base');
      const { touched, revision } = must(await roundTrip(room.userGitDir, commit));
      expect(touched).toEqual(['a.txt']);
      expect(revision.resultTree).toMatch(/^[0-9a-f]{64}$/);
      const patch = Buffer.from('diff --git a/run b/run\nold mode 100755\nnew mode 100644\n');
      const spec = { baseCommit: commit, patch, limits: LIMITS };
      expect(must(await room.repository.revisionFromPatch(spec, signal)).changes).toHaveLength(1);
    } finally {
      room.close();
    }
  });

  it('a repository whose replace refs and grafts would show something else', async () => {
    const clone = fresh();
    git(dir, ['clone', '--quiet', `file://${source}`, clone]);
    const commit = head(clone);
    git(clone, ['replace', commit, git(clone, ['rev-parse', 'HEAD~2'])]);
    expect(Object.keys(must(await roundTrip(path.join(clone, '.git'), commit)).before)).toHaveLength(4);
  });

  it('a partial clone that has every blob of the base, and refuses by name one that lacks some', async () => {
    const served = fresh();
    git(dir, ['clone', '--quiet', '--bare', source, served]);
    git(served, ['config', 'uploadpack.allowFilter', 'true']);
    git(served, ['config', 'uploadpack.allowAnySHA1InWant', 'true']);
    const partial = fresh();
    git(dir, ['clone', '--quiet', '--no-checkout', '--filter=blob:none', `file://${served}`, partial]);
    const gitDir = path.join(partial, '.git');
    const refused = await roundTrip(gitDir, head(partial));
    expect(refused).toMatchObject({ ok: false, error: { code: 'unsupported_repository' } });
    expect(refused.ok ? '' : refused.error.message).toContain('partial clone: 3 objects');
    git(partial, ['checkout', '--quiet', 'main']);
    expect(must(await roundTrip(gitDir, head(partial))).touched).toEqual(['a.txt']);
  });

  it('a base with a submodule, which stays as it is', async () => {
    const gitlink = '1234567890123456789012345678901234567890';
    const room = openPrivateRoom([{ 'a.txt': 'a\n', mod: `gitlink:${gitlink}`, '.gitmodules': '[submodule "mod"]\n' }]);
    try {
      const [commit] = room.commits;
      if (commit === undefined) throw new Error('no base');
      const { before, revision } = must(await roundTrip(room.userGitDir, commit));
      expect(Object.keys(before)).toEqual(['.gitmodules', 'a.txt']);
      expect(revision.changes).toHaveLength(1);
    } finally {
      room.close();
    }
  });

  it('a repository that another process is changing: bases arrive one after the other', async () => {
    const repository = privateRepositoryFor(fresh(), path.join(source, '.git'));
    const commits = git(source, ['rev-list', 'HEAD']).split('\n') as ObjectId[];
    const answers = await Promise.all([...commits, ...commits].map((commit) => repository.ensureBase(commit, signal)));
    const trees = answers.map((answer) => must(answer).tree);
    expect(trees.slice(0, 3)).toEqual(commits.map((commit) => git(source, ['rev-parse', `${commit}^{tree}`])));
  });
});
