import { describe, expect, it } from 'vitest';
import { orderOfChange } from '../../../src/engine/domain/change-order.ts';

const add = (path: string) => ({ path, before: false, after: true });
const remove = (path: string) => ({ path, before: true, after: false });
const edit = (path: string) => ({ path, before: true, after: true });

describe('the order of a change', () => {
  it('removes first what stands in the way, last what does not', () => {
    const order = orderOfChange([
      edit('e'),
      remove('d/x'),
      remove('d/s/y'),
      add('d'),
      remove('f'),
      add('f/g'),
      remove('z'),
    ]);
    expect(order).toMatchObject({ firstDeletions: [1, 2, 4], lastDeletions: [6], edits: [0], additions: [3, 5] });
    expect(order.replacedDirectories).toEqual(['d/s', 'd']);
    expect(order.exact.size).toBe(0);
  });

  it('keeps directories above the one that becomes a file', () => {
    expect(orderOfChange([remove('a/b/c/x'), add('a/b')]).replacedDirectories).toEqual(['a/b/c', 'a/b']);
  });

  it.each([
    ['case', 'README', 'readme'],
    ['normalisation', 'caf\u00e9', 'cafe\u0301'],
    ['case of a directory', 'Docs/a', 'docs/a'],
  ])('checks the spelling of names that differ only in %s', (_, from, to) => {
    const order = orderOfChange([remove(from), add(to)]);
    expect([...order.exact].sort()).toEqual([from, to].sort());
    expect(order.firstDeletions).toEqual([0]);
  });
});
