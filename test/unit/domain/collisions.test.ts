import { describe, expect, it } from 'vitest';
import { CollisionIndex, collisionsOfTouched, type EntryKind } from '../../../src/engine/domain/case-fold.ts';

function firstCollision(entries: readonly (readonly [string, EntryKind])[]) {
  const index = new CollisionIndex();
  for (const [path, kind] of entries) {
    const collision = index.add(path, kind);
    if (collision !== null) return collision;
  }
  return null;
}

describe('names of one archive', () => {
  it.each([
    [
      [
        ['a', 'file'],
        ['a', 'file'],
      ],
      { kind: 'duplicate', earlier: 'a', later: 'a' },
    ],
    [
      [
        ['d/', 'directory'],
        ['d', 'directory'],
      ],
      { kind: 'duplicate', earlier: 'd', later: 'd' },
    ],
    [
      [
        ['d/x', 'file'],
        ['d/', 'directory'],
      ],
      null,
    ],
    [
      [
        ['a', 'file'],
        ['a/b', 'file'],
      ],
      { kind: 'kind', earlier: 'a', later: 'a' },
    ],
    [
      [
        ['a/b/c', 'file'],
        ['a/b', 'file'],
      ],
      { kind: 'kind', earlier: 'a/b', later: 'a/b' },
    ],
    [
      [
        ['Src/a', 'file'],
        ['src/b', 'file'],
      ],
      { kind: 'case', earlier: 'Src', later: 'src' },
    ],
    [
      [
        ['straße', 'file'],
        ['STRASSE', 'file'],
      ],
      { kind: 'case', earlier: 'straße', later: 'STRASSE' },
    ],
    [
      [
        ['\u2126', 'file'],
        ['\u03a9', 'file'],
      ],
      { kind: 'nfc', earlier: '\u2126', later: '\u03a9' },
    ],
    [
      [
        ['\u212a', 'file'],
        ['k', 'file'],
      ],
      { kind: 'case', earlier: '\u212a', later: 'k' },
    ],
    [
      [
        ['a/x', 'file'],
        ['b/x', 'file'],
        ['a.x', 'file'],
      ],
      null,
    ],
  ] as const)('%j → %j', (entries, expected) => {
    expect(firstCollision(entries)).toEqual(expected);
  });

  it('count the directories that they imply once', () => {
    const index = new CollisionIndex();
    for (const path of ['a/b/c', 'a/b/d', 'a/e', 'f']) index.add(path, 'file');
    expect(index.impliedDirectories).toBe(2);
    expect(index.nameLength).toBe(
      'a'.length + 'a/b'.length + 'a/b/c'.length + 'a/b/d'.length + 'a/e'.length + 'f'.length,
    );
  });
});

describe('collisions in a tree', () => {
  const tree = ['X.h', 'x.h', 'Dir/a', 'f'];

  it('count only when a touched path takes part', () => {
    expect(collisionsOfTouched(tree, ['f'])).toEqual([]);
    expect(collisionsOfTouched(tree, ['x.h'])).toEqual([{ kind: 'case', earlier: 'X.h', later: 'x.h' }]);
  });

  it('are found through the directories above a touched path', () => {
    expect(collisionsOfTouched([...tree, 'dir/b'], ['dir/b'])).toEqual([
      { kind: 'case', earlier: 'Dir', later: 'dir' },
    ]);
    expect(collisionsOfTouched([...tree, 'F/b'], ['F/b'])).toEqual([{ kind: 'case', earlier: 'f', later: 'F' }]);
  });

  it('are none for a name that is no longer in the tree', () => {
    expect(collisionsOfTouched(['foo.txt'], ['Foo.txt', 'foo.txt'])).toEqual([]);
  });
});
