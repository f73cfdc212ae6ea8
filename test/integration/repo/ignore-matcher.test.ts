import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { git } from '../../support/git-repository.ts';
import { must, openPrivateRoom, type PrivateRoom, signal } from '../../support/private-room.ts';

const BASE = {
  '.gitignore': [
    'node_modules/',
    '*.log',
    '!keep.log',
    '/only-root',
    'build/*',
    '!build/keep/',
    'doc/**/*.html',
    'exact dir/',
    '\\!bang',
    '*.tmp/',
    ':(literal)magic',
    'anywhere/below',
    '[ab].x',
    '',
  ].join('\n'),
  'pkg/.gitignore': 'out\n!important.log\n/local/\n',
  'pkg/deep/.gitignore': '*\n!.gitignore\n!wanted\n',
  'node_modules/tracked.js': 'forced\n',
  'forced.log': 'forced\n',
  'link/.gitignore': 'link:../.gitignore',
  'src/a.ts': 'a\n',
};

/** Path and whether it is a directory; every parent of a file is one, too. */
const ASKED: readonly (readonly [string, boolean])[] = [
  ['node_modules', true],
  ['node_modules/x', true],
  ['node_modules/x/index.js', false],
  ['node_modules/tracked.js', false],
  ['packages/a/node_modules', true],
  ['packages/a/node_modules/.bin/tool', false],
  ['a.log', false],
  ['keep.log', false],
  ['forced.log', false],
  ['x/y/z.log', false],
  ['only-root', false],
  ['src/only-root', false],
  ['build', true],
  ['build/a', false],
  ['build/keep', true],
  ['build/keep/b', false],
  ['doc/x/y.html', false],
  ['doc/top.html', false],
  ['exact dir', true],
  ['other/exact dir/file', false],
  ['!bang', false],
  ['dir.tmp', true],
  ['file.tmp', false],
  [':(literal)magic', false],
  [':!x', false],
  ['anywhere/below', false],
  ['src/anywhere/below', false],
  ['a.x', false],
  ['c.x', false],
  ['*.x', false],
  ['pkg/out', true],
  ['pkg/out/file', false],
  ['pkg/sub/out', false],
  ['pkg/important.log', false],
  ['pkg/local', true],
  ['pkg/sub/local', true],
  ['pkg/deep/any', false],
  ['pkg/deep/wanted', false],
  ['pkg/deep/dir', true],
  ['pkg/deep/dir/wanted', false],
  ['link/b.ts', false],
  ['src/new.ts', false],
  ['-n', false],
  ['"quoted"', false],
  ['üñ/ï.log', false],
];

let room: PrivateRoom;
beforeAll(() => {
  room = openPrivateRoom([BASE]);
});
afterAll(() => room.close());

async function openMatcher() {
  const [commit] = room.commits;
  if (commit === undefined) throw new Error('no base');
  const { tree } = must(await room.repository.ensureBase(commit, signal));
  return must(await room.repository.ignoreMatcher(tree, signal));
}

describe('the matcher of ignore rules', () => {
  it('answers like git in a real checkout, in any order', async () => {
    const checkout = room.directory();
    git(room.dir, ['clone', '--quiet', '--branch', 'base-0', room.userGitDir, checkout]);
    for (const [name, isDirectory] of ASKED) {
      const full = path.join(checkout, name);
      mkdirSync(isDirectory ? full : path.dirname(full), { recursive: true });
      // git tells a directory without files from nothing only when it is asked for it by name.
      if (!isDirectory) writeFileSync(full, 'x', { flag: 'a' });
    }
    const expected = ASKED.map(([name]) => [name, ignoredByGit(checkout, name)] as const);
    expect(expected.filter(([, ignored]) => ignored).length).toBeGreaterThan(15);
    for (const order of [ASKED, [...ASKED].reverse()]) {
      const matcher = await openMatcher();
      const answers = new Map<string, boolean>();
      for (const [name, isDirectory] of order) answers.set(name, await matcher.isIgnored(name, isDirectory));
      matcher.close();
      expect(ASKED.map(([name]) => [name, answers.get(name)])).toEqual(expected);
    }
  });

  it('tells a file from a directory of the same name that the base has', async () => {
    const matcher = await openMatcher();
    // `*.tmp/` matches directories only; the base knows no such path, so what the archive says counts.
    expect(await matcher.isIgnored('z.tmp', true)).toBe(true);
    expect(await matcher.isIgnored('z.tmp', false)).toBe(false);
    expect(await matcher.isIgnored('z.tmp', true)).toBe(true);
    matcher.close();
  });

  it.each(['', '/etc/passwd', '../x.log', 'a/../b.log', 'a//b.log', '.git/x.log', 'a\u0000b.log', 'line\nbreak.log'])(
    'calls %j not ignored, so that it is refused by name later',
    async (name) => {
      const matcher = await openMatcher();
      expect(await matcher.isIgnored(name, false)).toBe(false);
      expect(await matcher.isIgnored('a.log', false)).toBe(true);
      matcher.close();
    },
  );
});

function ignoredByGit(checkout: string, name: string): boolean {
  try {
    execFileSync('git', ['check-ignore', '--quiet', '--', `./${name}`], { cwd: checkout, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
