import type { ObjectId } from '../domain/ids.ts';
import { GitError, type GitPlace, type GitRunner } from './git-runner.ts';
import { withTreeReader } from './tree-reader.ts';

/** Content of one regular file; null when the tree has none by that name. More than `maxBytes` is a failure, not a part. */
export function readFileIn(
  runner: GitRunner,
  place: GitPlace,
  asked: { readonly treeish: ObjectId; readonly file: string; readonly maxBytes: number },
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  return withTreeReader(runner, place, signal, async (reader) => {
    const tree = await reader.treeOf(asked.treeish);
    const entry = tree === null ? undefined : (await reader.lookup(tree, [asked.file])).get(asked.file);
    if (entry === undefined || (entry.mode !== '100644' && entry.mode !== '100755')) return null;
    const [bytes] = await reader.sizes([entry.id]);
    if (typeof bytes === 'number' && bytes > asked.maxBytes) {
      const found = `${asked.file} has ${bytes} bytes, at most ${asked.maxBytes} are read`;
      throw new GitError(['cat-file'], found, false);
    }
    return reader.content(entry.id);
  });
}
