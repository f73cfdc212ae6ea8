/**
 * Makes the bytes that a checkout would have, in a staging work tree: line endings, `ident`, encodings and LFS as the user's
 * git does them. Does not trust attributes that come with the change: a filter other than LFS is reported, not run.
 */
import fs from 'node:fs/promises';
import { err, ok, type Result } from '../domain/result.ts';
import type { StageSpec, TargetFailure, WorkTree } from '../ports/target-repository.ts';
import type { TargetGit } from './target-git.ts';

/** Fills the scratch index with the tree, then asks it and the work tree as it is. */
export async function filterAttributes(
  git: TargetGit,
  worktree: WorkTree,
  spec: Pick<StageSpec, 'tree' | 'paths' | 'scratchIndex'>,
  signal: AbortSignal,
): Promise<readonly { readonly path: string; readonly filter: string }[]> {
  await fs.rm(spec.scratchIndex, { force: true });
  const at = { gitDir: worktree.gitDir, workTree: worktree.root };
  const cached = { ...at, indexFile: spec.scratchIndex, config: ['core.fsync=none'] };
  await git.must({ ...cached, args: ['read-tree', spec.tree], signal });
  const input = spec.paths.map((file) => `${file}\0`).join('');
  const [result, present] = await Promise.all([
    git.must({ ...cached, args: ['check-attr', '-z', '--stdin', '--cached', 'filter'], input, signal }),
    git.must({ ...at, args: ['check-attr', '-z', '--stdin', 'filter'], input, signal }),
  ]);
  const found = new Map<string, string>();
  for (const output of [result, present])
    for (const { path: file, filter } of filterRows(output)) found.set(file, filter);
  return [...found].map(([file, filter]) => ({ path: file, filter }));
}

function filterRows(output: Buffer): { path: string; filter: string }[] {
  const fields = output.toString('utf8').split('\0');
  const rows: { path: string; filter: string }[] = [];
  for (let index = 0; index + 2 < fields.length; index += 3) {
    const [file = '', , filter = ''] = fields.slice(index, index + 3);
    if (!['unspecified', 'unset', 'set'].includes(filter)) rows.push({ path: file, filter });
  }
  return rows;
}

/** The scratch index must hold the tree (see `filterAttributes`). */
export async function stagePaths(
  git: TargetGit,
  worktree: WorkTree,
  spec: StageSpec,
  signal: AbortSignal,
): Promise<Result<void, TargetFailure>> {
  const at = { gitDir: worktree.gitDir, workTree: spec.dir, indexFile: spec.scratchIndex };
  const listing = await git.must({
    ...at,
    args: ['ls-files', '-z', '--stage', '--', ':(top,glob)**/.gitattributes'],
    signal,
  });
  const attributes = new Set(
    listing
      .toString('utf8')
      .split('\0')
      .filter((row) => row.startsWith('100'))
      .map((row) => row.slice(row.indexOf('\t') + 1)),
  );
  for (const paths of [[...attributes], spec.paths.filter((file) => !attributes.has(file))]) {
    if (paths.length === 0) continue;
    const input = paths.map((file) => `${file}\0`).join('');
    const done = await git.run({ ...at, args: ['checkout-index', '-z', '--stdin'], input, signal });
    if (done.exitCode !== 0)
      return err({
        code: 'checkout_failed',
        message: `git checkout-index failed: ${done.stderr.trim().slice(0, 400)}`,
      });
  }
  return ok(undefined);
}
