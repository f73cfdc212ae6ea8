/** Three-way merge of blobs in the user's object store. Trusts git merge-file; no merge driver of the user runs. */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { ObjectId } from '../domain/ids.ts';
import type { TargetPlace } from '../ports/target-repository.ts';
import type { TargetGit } from './target-git.ts';

export async function mergeBlobs(
  git: TargetGit,
  place: TargetPlace,
  spec: { readonly base: ObjectId; readonly ours: ObjectId; readonly theirs: ObjectId; readonly scratchDir: string },
  signal: AbortSignal,
): Promise<ObjectId | null> {
  const { gitDir } = place;
  const files: string[] = [];
  for (const name of ['ours', 'base', 'theirs'] as const) {
    const file = path.join(spec.scratchDir, name);
    await fs.writeFile(file, await git.must({ gitDir, args: ['cat-file', 'blob', spec[name]], signal }));
    files.push(file);
  }
  const merged = await git.run({ gitDir, args: ['merge-file', '-p', '-q', ...files], signal });
  for (const file of files) await fs.rm(file, { force: true });
  if (merged.exitCode !== 0) return null;
  const written = await git.must({
    gitDir,
    args: ['hash-object', '-w', '--no-filters', '--stdin', '-t', 'blob'],
    input: merged.stdout,
    signal,
  });
  return written.toString('utf8').trim() as ObjectId;
}
