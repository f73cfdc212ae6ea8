import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { git, gitBytes } from '../support/git-repository.ts';
import { LIMITS, must, openPrivateRoom, signal } from '../support/private-room.ts';

const line = fc.constantFrom('a', 'b', '', '--- x', '+++ y', '@@ -1 +1 @@', 'diff --git a/x b/x', '\t', 'é', '\\ No');
const text = fc
  .tuple(fc.array(line, { maxLength: 12 }), fc.boolean())
  .map(([lines, closed]) => lines.join('\n') + (closed && lines.length > 0 ? '\n' : ''));
const content = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from([0, ...bytes])) },
);
const name = fc.constantFrom('a', 'x:b', 'd/one', 'd/two', 'd/e/three', 'f g', '"q"', 'ü', 'x:d/run', '-n');
const tree = fc.dictionary(name, content, { minKeys: 1, maxKeys: 8 });
const pairs = fc.array(fc.tuple(tree, tree), { minLength: 10, maxLength: 10 });

describe('a revision from a patch', () => {
  it('has the result tree that the diff of base and result was made from, for any two trees', {
    timeout: 300_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(pairs, async (cases) => {
        const room = openPrivateRoom(cases.flat());
        try {
          for (let index = 0; index < cases.length; index++) {
            const [base, result] = room.commits.slice(2 * index, 2 * index + 2);
            if (base === undefined || result === undefined) throw new Error('no commits');
            const [baseTree, resultTree] = [base, result].map((commit) =>
              git(room.userGitDir, ['rev-parse', `${commit}^{tree}`]),
            );
            const form = ['--binary', '--full-index', '--find-renames'];
            const patch = gitBytes(room.userGitDir, ['diff-tree', '-r', '-p', ...form, base, result]);
            const spec = { baseCommit: base, patch, limits: LIMITS };
            const built = await room.repository.revisionFromPatch(spec, signal);
            if (baseTree === resultTree) expect(built.ok).toBe(false);
            else expect(must(built)).toMatchObject({ baseTree, resultTree, via: 'plain' });
          }
        } finally {
          room.close();
        }
      }),
      { numRuns: 1, endOnFailure: true },
    );
  });
});
