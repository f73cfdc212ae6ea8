import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { git } from '../../support/git-repository.ts';
import {
  contentOf,
  LIMITS,
  must,
  openPrivateRoom,
  type PrivateRoom,
  reportOf,
  signal,
} from '../../support/private-room.ts';

const ATTRIBUTES = [
  '* filter=evil ident text eol=crlf diff=evil merge=evil working-tree-encoding=UTF-16',
  '[attr]mine text eol=crlf filter=evil',
  '*.txt mine -diff',
  '',
].join('\n');
const FILES = {
  '.gitattributes': ATTRIBUTES,
  'a.txt': 'one\n$Id$\ntwo\n',
  'w.txt': 'one\r\n$Id: x $\r\n',
  'sub/.gitattributes': '* binary\n',
  'sub/b.txt': 'b\nB\n',
};

let room: PrivateRoom;
let witness: string;
const saved = { ...process.env };

/** Everything a hostile machine and a hostile repository can offer, each leaving a trace if it is ever used. */
beforeAll(() => {
  room = openPrivateRoom([FILES]);
  witness = path.join(room.dir, 'witness');
  const spy = path.join(room.dir, 'spy');
  writeFileSync(spy, `#!/bin/sh\necho "$0 $*" >> '${witness}'\ncat\n`);
  chmodSync(spy, 0o755);
  const hooks = path.join(room.userGitDir, 'hooks');
  mkdirSync(hooks, { recursive: true });
  for (const hook of ['reference-transaction', 'post-index-change', 'post-checkout', 'pre-commit', 'post-update'])
    writeFileSync(path.join(hooks, hook), readFileSync(spy), { mode: 0o755 });
  const config = [
    ['filter.evil.clean', spy],
    ['filter.evil.smudge', spy],
    ['diff.evil.textconv', spy],
    ['diff.evil.command', spy],
    ['diff.external', spy],
    ['merge.evil.driver', spy],
    ['core.fsmonitor', spy],
    ['core.hooksPath', hooks],
    ['core.pager', spy],
    ['core.sshCommand', spy],
    ['uploadpack.packObjectsHook', spy],
    ['core.autocrlf', 'true'],
    ['alias.apply', `!${spy}`],
  ] as const;
  for (const [key, value] of config) git(room.userGitDir, ['config', key, value]);
  const home = path.join(room.dir, 'home');
  mkdirSync(home);
  const text = readFileSync(path.join(room.userGitDir, 'config'), 'utf8').replace('bare = true', '');
  writeFileSync(path.join(home, '.gitconfig'), text);
  Object.assign(process.env, {
    HOME: home,
    XDG_CONFIG_HOME: home,
    GIT_DIR: '/nonexistent',
    GIT_WORK_TREE: '/nonexistent',
    GIT_INDEX_FILE: '/nonexistent/index',
    GIT_OBJECT_DIRECTORY: '/nonexistent/objects',
    GIT_EXTERNAL_DIFF: spy,
    GIT_SSH_COMMAND: spy,
    GIT_PAGER: spy,
    GIT_EXEC_PATH: '/nonexistent',
    GIT_TEMPLATE_DIR: room.userGitDir,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.fsmonitor',
    GIT_CONFIG_VALUE_0: spy,
    GIT_CONFIG_PARAMETERS: `'core.hooksPath=${hooks}'`,
    GIT_TRACE: path.join(room.dir, 'trace'),
    LD_PRELOAD: '/nonexistent.so',
    BASH_ENV: spy,
    ENV: spy,
  });
});
afterEach(() => {
  expect(existsSync(witness) ? readFileSync(witness, 'utf8') : 'nothing ran').toBe('nothing ran');
  expect(existsSync(path.join(room.dir, 'trace'))).toBe(false);
});
afterAll(() => {
  process.env = saved;
  room.close();
});

describe('git in a hostile repository and environment', () => {
  it('lays files out byte for byte, takes them back as they are, and runs nothing', async () => {
    const [commit] = room.commits;
    if (commit === undefined) throw new Error('no base');
    const targetDir = room.directory();
    const everything = { inScope: () => true, withhold: () => false };
    const provisioned = must(await room.repository.provision({ commit, ...everything, targetDir }, signal));
    const expected = Object.fromEntries(Object.entries(FILES).map(([name, text]) => [name, `f:${text}`]));
    expect(contentOf(targetDir)).toEqual(expected);

    writeFileSync(path.join(targetDir, 'a.txt'), 'one\r\n$Id$\nTWO\n');
    writeFileSync(path.join(targetDir, '.gitattributes'), `${ATTRIBUTES}* -text\n`);
    const spec = { baseCommit: commit, seeded: provisioned.seeded, ...everything, dir: targetDir, limits: LIMITS };
    const report = reportOf(targetDir);
    const revision = must(await room.repository.revisionFromWorkspace({ ...spec, report }, signal));
    expect(revision).toMatchObject({ additions: 3, deletions: 2, highRiskPaths: ['.gitattributes'] });
    const stored = must(await room.repository.readFile(revision.resultTree, 'a.txt', 100, signal));
    expect(Buffer.from(stored ?? []).toString()).toBe('one\r\n$Id$\nTWO\n');

    const again = room.directory();
    must(await room.repository.materialise(revision.resultTree, () => false, again, signal));
    expect(contentOf(again)).toEqual(contentOf(targetDir));

    const options = { contextLines: 3, maxLinesPerFile: 100, detectRenames: true };
    const files = must(await room.repository.diff(revision.baseTree, revision.resultTree, options, signal));
    expect(files.map(({ path: name, binary, hunks }) => [name, binary, hunks.length])).toEqual([
      ['.gitattributes', false, 1],
      ['a.txt', false, 1],
    ]);
    must(await room.repository.keep('P-1', 1, revision, signal));
  });

  it('applies a patch byte for byte and runs nothing', async () => {
    const [baseCommit] = room.commits;
    if (baseCommit === undefined) throw new Error('no base');
    const patch = Buffer.from('--- a/w.txt\n+++ b/w.txt\n@@ -1,2 +1,2 @@\n one\r\n-$Id: x $\r\n+$Id: y $\r\n');
    const revision = must(await room.repository.revisionFromPatch({ baseCommit, patch, limits: LIMITS }, signal));
    const stored = must(await room.repository.readFile(revision.resultTree, 'w.txt', 100, signal));
    expect(Buffer.from(stored ?? []).toString()).toBe('one\r\n$Id: y $\r\n');
  });

  it('takes a binary section only from the base that it is applied to', async () => {
    const [first] = room.commits;
    if (first === undefined) throw new Error('no base');
    // Another base, fetched before, holds a blob that the patch names without bringing its data.
    const blob = git(room.userGitDir, ['hash-object', '-w', '--stdin'], Buffer.from('other\0content'));
    const tree = git(room.userGitDir, ['mktree'], `100644 blob ${blob}\tsecret.bin\n`);
    const other = git(room.userGitDir, ['commit-tree', tree, '-m', 'other']) as typeof first;
    must(await room.repository.ensureBase(other, signal));
    const header = `diff --git a/n.bin b/n.bin\nnew file mode 100644\nindex ${'0'.repeat(40)}..${blob}\n`;
    const patch = Buffer.from(`${header}Binary files /dev/null and b/n.bin differ\n`);
    const spec = { patch, limits: LIMITS };
    const refused = await room.repository.revisionFromPatch({ ...spec, baseCommit: first }, signal);
    expect(refused).toMatchObject({ ok: false, error: { reason: 'patch_binary_unusable' } });
    const taken = must(await room.repository.revisionFromPatch({ ...spec, baseCommit: other }, signal));
    expect(taken.changes.map(({ newId }) => newId)).toEqual([blob]);
  });
});
