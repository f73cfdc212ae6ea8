import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isWithheld } from '../../../src/engine/domain/withhold.ts';
import type { RevisionLimits } from '../../../src/engine/ports/private-repository.ts';
import {
  LIMITS,
  must,
  openPrivateRoom,
  type PrivateRoom,
  reportOf,
  seededPaths,
  signal,
} from '../../support/private-room.ts';

const SUBMODULE = '1234567890123456789012345678901234567890';
const BASE = {
  'README.md': 'outside the scope\n',
  'src/a.ts': 'a\n',
  'src/b.ts': 'b\n',
  'src/deep/c.ts': 'c\n',
  'x:src/run.sh': '#!/bin/sh\n',
  'src/logo.bin': Buffer.from([0, 1, 2, 255]),
  'src/link': 'link:a.ts',
  'src/.env': 'SECRET=1\n',
  'src/cafe\u0301.txt': 'decomposed\n',
  'lib/other.ts': 'other\n',
  sub: `gitlink:${SUBMODULE}`,
};

let room: PrivateRoom;
beforeAll(() => {
  room = openPrivateRoom([BASE]);
});
afterAll(() => room.close());

const inScope = (file: string) => file.startsWith('src/') || file.startsWith('sub');
const withhold = (file: string) => isWithheld(file);

async function seed() {
  const [commit] = room.commits;
  if (commit === undefined) throw new Error('no base');
  const targetDir = room.directory();
  const provisioned = must(await room.repository.provision({ commit, inScope, withhold, targetDir }, signal));
  return { commit, dir: targetDir, provisioned };
}

async function submit(
  edit: (dir: string) => void,
  options: { limits?: RevisionLimits; links?: readonly { path: string; target: string }[] } = {},
) {
  const { commit, dir, provisioned } = await seed();
  edit(dir);
  const report = reportOf(dir);
  return room.repository.revisionFromWorkspace(
    {
      baseCommit: commit,
      seeded: provisioned.seeded,
      inScope,
      withhold,
      dir,
      report: { ...report, links: options.links ?? report.links },
      limits: options.limits ?? LIMITS,
    },
    signal,
  );
}

const put = (name: string, content: string | Buffer) => (dir: string) => {
  mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
  writeFileSync(path.join(dir, name), content);
};

describe('a provisioned source directory', () => {
  it('holds what is in scope, without sensitive files and submodules, with links and executable bits', async () => {
    const { dir, provisioned } = await seed();
    expect(provisioned.withheld).toEqual(['src/.env']);
    expect(provisioned.gitlinks).toEqual(['sub']);
    expect(provisioned.totalBytes).toBe(35);
    const { files, links } = reportOf(dir);
    expect(links).toEqual([{ path: 'src/link', target: 'a.ts' }]);
    expect(files.filter(({ executable }) => executable).map((file) => file.path)).toEqual(['src/run.sh']);
    const written = [...files, ...links].map((file) => file.path.normalize('NFC')).sort();
    expect(written).toEqual(
      seededPaths(provisioned)
        .map((name) => name.normalize('NFC'))
        .sort(),
    );
  });
});

describe('a revision from a workspace', () => {
  it('is empty when nothing was changed', async () => {
    const built = await submit(() => undefined);
    expect(built).toMatchObject({ ok: false, error: { reason: 'change_empty' } });
  });

  it('keeps the base entry of everything that was not seeded', async () => {
    const revision = must(await submit(put('src/a.ts', 'A\n')));
    expect(revision.changes).toHaveLength(1);
    const paths = ['README.md', 'lib/other.ts', 'src/.env', 'sub'];
    const before = must(await room.repository.entryIds(revision.baseTree, paths, signal));
    const after = must(await room.repository.entryIds(revision.resultTree, paths, signal));
    expect([...after]).toEqual([...before]);
    expect(after.get('sub')).toBe(SUBMODULE);
  });

  it('takes edits, deletions, additions, a changed mode and binary content for what they are', async () => {
    const revision = must(
      await submit((dir) => {
        put('src/a.ts', 'a\nmore\n')(dir);
        rmSync(path.join(dir, 'src/b.ts'));
        put('src/new/n.ts', 'n\n')(dir);
        chmodSync(path.join(dir, 'src/run.sh'), 0o644);
        put('src/logo.bin', Buffer.from([0, 9]))(dir);
      }),
    );
    expect(revision.changes.map(({ path: name, oldMode, newMode }) => [name, oldMode, newMode])).toEqual([
      ['src/a.ts', '100644', '100644'],
      ['src/b.ts', '100644', null],
      ['src/logo.bin', '100644', '100644'],
      ['src/new/n.ts', null, '100644'],
      ['src/run.sh', '100755', '100644'],
    ]);
    expect(revision).toMatchObject({ additions: 2, deletions: 1, via: null, highRiskPaths: [] });
    const bytes = must(await room.repository.readFile(revision.resultTree, 'src/logo.bin', 100, signal));
    expect([...(bytes ?? [])]).toEqual([0, 9]);
  });

  it('takes a rename for a deletion and an addition', async () => {
    const revision = must(
      await submit((dir) => renameSync(path.join(dir, 'src/deep/c.ts'), path.join(dir, 'src/moved.ts'))),
    );
    expect(revision.changes.map(({ path: name, newMode }) => [name, newMode])).toEqual([
      ['src/deep/c.ts', null],
      ['src/moved.ts', '100644'],
    ]);
  });

  it('lets a file become a directory', async () => {
    const revision = must(
      await submit((dir) => {
        rmSync(path.join(dir, 'src/a.ts'));
        put('src/a.ts/inner', 'i\n')(dir);
      }),
    );
    expect(revision.changes.map(({ path: name }) => name)).toEqual(['src/a.ts', 'src/a.ts/inner']);
  });

  it('maps a name that the export normalised back to the spelling of the base', async () => {
    const { commit, dir, provisioned } = await seed();
    reportOf(dir);
    put('src/caf\u00e9.txt', 'edited\n')(dir);
    const spec = { baseCommit: commit, seeded: provisioned.seeded, inScope, withhold, dir, limits: LIMITS };
    const report = reportOf(dir);
    const revision = must(await room.repository.revisionFromWorkspace({ ...spec, report }, signal));
    expect(revision.changes.map(({ path: name }) => name)).toEqual(['src/cafe\u0301.txt']);
  });

  const NESTED = ['src', 'link'].join('/');
  it.each<[string, (dir: string) => void, string, string]>([
    ['a base path that was not seeded', put('README.md', 'mine\n'), 'workspace_unseeded', 'README.md'],
    ['a withheld path', put('src/.env', 'SECRET=1\n'), 'workspace_withheld', 'src/.env'],
    ['a new path that is withheld', put('src/id_rsa', 'k\n'), 'workspace_withheld', 'src/id_rsa'],
    ['a new path outside the scope', put('docs/x.md', 'x\n'), 'workspace_out_of_scope', 'docs/x.md'],
    ['a file in the place of a submodule', put('sub/x', 'x\n'), 'mode_gitlink', 'sub/x'],
    ['a name that collides in case', put('src/A.ts', 'x\n'), 'collision_case', 'src/a.ts'],
    ['a lost link', (dir) => rmSync(path.join(dir, NESTED)), 'mode_symlink', 'src/link'],
    [
      'a file in the place of a link',
      (dir) => {
        rmSync(path.join(dir, NESTED));
        put(NESTED, 'x')(dir);
      },
      'mode_symlink',
      'src/link',
    ],
    ['a protected name', put('src/.git/config', 'x'), 'path_git_dir', 'src/.git/config'],
  ])('refuses %s by name', async (_, edit, reason, name) => {
    expect(await submit(edit)).toMatchObject({ ok: false, error: { reason, path: name } });
  });

  it('refuses a link that points elsewhere, even if it was noted as unchanged', async () => {
    const built = await submit(put('src/a.ts', 'x'), { links: [{ path: 'src/link', target: '/etc/passwd' }] });
    expect(built).toMatchObject({ ok: false, error: { reason: 'mode_symlink', path: 'src/link' } });
  });

  it('refuses a file over the limit and too many files, and stores nothing of them', async () => {
    const objects = path.join(room.dir, 'objects.git', 'objects');
    const before = readdirSync(objects, { recursive: true }).length;
    const large = await submit(put('src/a.ts', '0123456789'), { limits: { ...LIMITS, maxFileBytes: 9 } });
    expect(large).toMatchObject({ ok: false, error: { reason: 'file_too_large', path: 'src/a.ts' } });
    const edit = (dir: string) => {
      for (const n of ['1', '2', '3']) put(`src/f${n}`, `unique ${n}`)(dir);
    };
    const many = await submit(edit, { limits: { ...LIMITS, maxChangedFiles: 2 } });
    expect(many).toMatchObject({ ok: false, error: { reason: 'too_many_files' } });
    expect(readdirSync(objects, { recursive: true })).toHaveLength(before);
    expect(readdirSync(path.join(room.dir, 'temp'))).toEqual(['empty']);
  });
});
