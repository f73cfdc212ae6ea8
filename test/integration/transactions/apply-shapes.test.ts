import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TransactionId } from '../../../src/engine/domain/ids.ts';
import { git } from '../../support/transactions/git.ts';
import { leftovers, snapshot, workTree } from '../../support/transactions/snapshot.ts';
import {
  applyRequest,
  createWorld,
  destroyWorld,
  type Engine,
  type Files,
  never,
  openEngine,
  revise,
  rollbackRequest,
  type World,
} from '../../support/transactions/world.ts';

interface Shape {
  readonly base?: Files;
  readonly config?: Readonly<Record<string, string>>;
  readonly change: Files;
}

const many = Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`many/${n % 10}/file-${n}.txt`, `line ${n}\n`]));

const SHAPES: Readonly<Record<string, Shape>> = {
  'an edit': { change: { 'src/a.txt': 'one\nTWO\nthree\n' } },
  'an added file': { change: { 'src/new.txt': 'new\n' } },
  'a deleted file': { change: { 'README.md': null } },
  'a rename': { change: { 'src/b.txt': null, 'src/c.txt': 'bee\n' } },
  'a file that becomes executable': { change: { 'README.md': { content: 'hello\n', executable: true } } },
  'an executable that is added': { change: { 'bin/run': { content: '#!/bin/sh\n', executable: true } } },
  'a binary file': { change: { 'blob.bin': new Uint8Array([0, 13, 10, 255, 0, 7]) } },
  'a file that becomes a directory': { change: { plain: null, 'plain/inner/file.txt': 'inside\n' } },
  'a directory that becomes a file': { change: { 'dir/x.txt': null, 'dir/sub/y.txt': null, dir: 'now a file\n' } },
  'a directory and a file that change places': {
    change: { 'dir/x.txt': null, 'dir/sub/y.txt': null, dir: 'file\n', plain: null, 'plain/p': 'dir\n' },
  },
  'a rename that only changes case': { change: { 'README.md': null, 'Readme.md': 'hello\n' } },
  'a directory renamed in case': { change: { 'dir/x.txt': null, 'dir/sub/y.txt': null, 'Dir/x.txt': 'x\n' } },
  'new nested directories': { change: { 'a/b/c/d/e.txt': 'deep\n', 'a/b/f.txt': 'less deep\n' } },
  'a deletion that empties directories': { change: { 'src/deep/only/one.txt': null } },
  'an empty file': { change: { 'src/empty': '', 'src/b.txt': '' } },
  'many files': {
    base: many,
    change: Object.fromEntries(Object.keys(many).map((name) => [name, `changed ${name}\n`])),
  },
  'many new files': { change: many },
  'line endings by attribute': {
    base: { '.gitattributes': '*.txt text eol=crlf\n' },
    change: { 'src/a.txt': 'one\nTWO\n', 'src/new.txt': 'new\nfile\n' },
  },
  'attributes that come with the change': {
    change: {
      '.gitattributes': '*.win text eol=crlf\n',
      'new.win': 'one\ntwo\n',
      'sub/.gitattributes': '*.win eol=lf\n',
      'sub/n.win': 'lf\n',
    },
  },
  'core.autocrlf': {
    config: { 'core.autocrlf': 'true' },
    change: { 'src/a.txt': 'one\nTWO\n', 'src/new.txt': 'new\n' },
  },
  'ident expansion': {
    base: { '.gitattributes': '*.id ident\n', 'v.id': '$Id$\nold\n' },
    change: { 'v.id': '$Id$\nnew\n' },
  },
  'a working-tree encoding': {
    base: { '.gitattributes': '*.u16 text working-tree-encoding=UTF-16LE-BOM\n' },
    change: { 'w.u16': 'wide\n' },
  },
  'names that git would quote': {
    change: { '"quoted".txt': 'q\n', 'ünïcode/名前.txt': 'u\n', 'with space': 's\n', '-dash': 'd\n', ':(top)x': 'm\n' },
  },
  'core.fileMode=false': {
    config: { 'core.fileMode': 'false' },
    change: { 'tool.sh': { content: '#!/bin/sh\nexit\n', executable: true } },
  },
};

let world: World;
let engine: Engine;
afterEach(() => {
  engine.close();
  destroyWorld(world);
});

describe.each(Object.entries(SHAPES))('applying %s', (_, shape) => {
  beforeEach(async () => {
    world = createWorld({ files: shape.base ?? {}, config: shape.config ?? {} });
    engine = await openEngine(world);
  });

  it('lands as one commit whose checkout is what stands in the work tree, and rolls back to where it was', async () => {
    const before = snapshot(world);
    const revision = revise(world, shape.change);
    const applied = await engine.manager.apply(applyRequest(world, engine, revision), never());
    if (!applied.ok) throw new Error(JSON.stringify(applied.error));

    expect(git(world.project, ['rev-parse', 'HEAD'])).toBe(applied.value.newCommit);
    expect(git(world.project, ['rev-parse', 'HEAD^{tree}', 'HEAD^'])).toBe(
      `${revision.resultTree}\n${revision.baseCommit}`,
    );
    expect(snapshot(world).status).toBe(before.status);
    expect(touchedIn(world.project, shape.change)).toEqual(touchedIn(checkout(world), shape.change));
    expect(untouched(world, shape.change)).toEqual(without(before.tree, shape.change));
    expect(engine.settled.map((outcome) => outcome.outcome)).toEqual(['applied']);
    expect(leftovers(world)).toEqual([]);
    // The index knows the files by their stat data: git need not read them again.
    expect(
      git(world.project, [
        'diff-files',
        '--name-only',
        '--',
        ...Object.keys(shape.change).map((name) => `:(literal)${name}`),
      ]),
    ).toBe('');

    const undone = await engine.manager.rollback(rollbackRequest(engine, 'TX-1', 'TX-2'), never());
    if (!undone.ok) throw new Error(JSON.stringify(undone.error));
    const after = snapshot(world);
    expect(git(world.project, ['rev-parse', 'HEAD^{tree}'])).toBe(revision.baseTree);
    expect({ tree: after.tree, index: after.index, status: after.status }).toEqual({
      tree: before.tree,
      index: before.index,
      status: before.status,
    });
    expect(leftovers(world)).toEqual([]);
    git(world.project, ['fsck', '--strict', '--no-dangling']);
  });

  it('can be left uncommitted in index and work tree', async () => {
    const before = snapshot(world);
    const revision = revise(world, shape.change);
    const applied = await engine.manager.apply(applyRequest(world, engine, revision, { commit: false }), never());
    if (!applied.ok) throw new Error(JSON.stringify(applied.error));
    expect(applied.value.newCommit).toBeNull();
    expect(snapshot(world).refs).toBe(before.refs);
    expect(touchedIn(world.project, shape.change)).toEqual(
      touchedIn(checkout(world, revision.resultTree), shape.change),
    );
    git(world.project, ['reset', '-q', '--', 'elsewhere']);
    expect(git(world.project, ['write-tree'])).toBe(revision.resultTree);
    expect(leftovers(world)).toEqual([]);
  });
});

describe('the commit', () => {
  beforeEach(async () => {
    world = createWorld();
    engine = await openEngine(world);
  });

  it('is by the operator, carries the trailers, and is named in the reflog', async () => {
    const applied = await engine.manager.apply(applyRequest(world, engine, revise(world, { x: 'x\n' })), never());
    expect(applied.ok).toBe(true);
    expect(git(world.project, ['log', '-1', '--format=%an <%ae> %cn <%ce>%n%B'])).toBe(
      'Olive Operator <olive@example.org> Olive Operator <olive@example.org>\nDo the thing\n\nBecause it was asked for.\n\n' +
        'Roundtable-Proposal: P-1\nRoundtable-Transaction: TX-1\nRoundtable-Agent: impl-1\n',
    );
    expect(git(world.project, ['log', '-1', '--format=%(trailers:key=Roundtable-Proposal,valueonly)'])).toBe('P-1\n');
    expect(git(world.project, ['reflog', '-1', '--format=%gs', 'main'])).toBe('roundtable: apply TX-1 (P-1)');
    expect(git(world.project, ['reflog', '-1', '--format=%gs', 'HEAD'])).toBe('roundtable: apply TX-1 (P-1)');
  });

  it('is recorded with every step as a phase row that has an end', async () => {
    await engine.manager.apply(applyRequest(world, engine, revise(world, { x: 'x\n' })), never());
    const phases = engine.store.read((repositories) => repositories.transactions.phases('TX-1' as TransactionId));
    expect(phases.map((phase) => phase.phase)).toEqual([
      'lock-index',
      'lock-ref',
      'lock-ref',
      'verify',
      'sync-staged',
      'change-files',
      'commit',
      'index',
    ]);
    expect(phases.every((phase) => phase.endedAt !== null && phase.outcome === 'ok')).toBe(true);
  });
});

/** A fresh checkout by git itself, with the user's configuration: what the bytes must be. */
function checkout(of: World, tree = 'HEAD'): string {
  const target = path.join(of.dir, `checkout-${tree}`);
  const index = path.join(of.dir, `checkout-index-${tree}`);
  git(of.dir, ['init', '-q', target]);
  const at = { GIT_DIR: path.join(of.project, '.git'), GIT_WORK_TREE: target, GIT_INDEX_FILE: index };
  git(target, ['read-tree', tree], undefined, at);
  git(target, ['checkout-index', '-a', '-q'], undefined, at);
  return target;
}

function touchedIn(root: string, change: Files): Record<string, string> {
  const names = new Set(Object.keys(change));
  return Object.fromEntries(Object.entries(workTree(root)).filter(([name]) => names.has(name)));
}

function untouched(of: World, change: Files): Record<string, string> {
  return without(workTree(of.project), change);
}

/** Files only: directories come and go with what is in them. */
function without(tree: Readonly<Record<string, string>>, change: Files): Record<string, string> {
  return Object.fromEntries(Object.entries(tree).filter(([name]) => !(name in change) && !name.endsWith('/')));
}
