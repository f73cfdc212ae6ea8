import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { PatchJob } from './patch-revision.ts';
import { parseTreeListing, SINGLE_TREE_BYTES } from './tree-listing.ts';

/**
 * Lets the quarantine see the blobs of this one base and nothing else. git fills a binary section's result from the object
 * store when the store has the blob that the section names, so a patch could otherwise pull in content of other commits.
 * Text patches read only what the base's index names, which is why they don't need this (and its cost).
 */
export async function offerBaseOnly(job: PatchJob): Promise<void> {
  const { runner, stores, baseTree, signal } = job;
  const objects = path.join(job.directory, 'base-objects');
  await mkdir(path.join(objects, 'pack'), { recursive: true, mode: 0o700 });
  const listing = await runner.must({
    ...stores.bases,
    args: ['ls-tree', '-r', '-z', baseTree],
    signal,
    maxBytes: SINGLE_TREE_BYTES,
  });
  const ids = new Set<string>();
  for (const { mode, id } of parseTreeListing(listing)) if (mode !== '160000') ids.add(id);
  if (ids.size > 0) {
    const args = ['pack-objects', '-q', '--window=0', path.join(objects, 'pack', 'pack')];
    await runner.must({ ...stores.bases, args, input: Buffer.from(`${[...ids].join('\n')}\n`), signal });
  }
  await job.quarantine.offer([objects]);
}
