/**
 * Lays a tree out as files. Trusts: that `targetDir` is an empty directory of ours. Does not trust: names in the tree
 * (what the path function refuses is never written). Links are made as links and never followed: git checks each parent.
 */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { ObjectId } from '../domain/ids.ts';
import { normalizePath } from '../domain/path.ts';
import type { SeededEntry } from '../ports/private-repository.ts';
import type { GitPlace, GitRunner } from './git-runner.ts';
import { parseTreeListing, SINGLE_TREE_BYTES } from './tree-listing.ts';

export interface LayOutJob {
  readonly runner: GitRunner;
  readonly place: GitPlace;
  /** Private directory for the index file. */
  readonly directory: string;
  readonly tree: ObjectId;
  /** Another tree whose files are laid out; the answer still speaks of `tree`. */
  readonly content: { readonly place: GitPlace; readonly tree: ObjectId } | null;
  readonly inScope: (path: string) => boolean;
  readonly withhold: (path: string) => boolean;
  readonly targetDir: string;
  readonly signal: AbortSignal;
}

export interface LaidOut {
  readonly seeded: readonly SeededEntry[];
  /** In scope and left out: sensitive, or a name that the path function refuses. */
  readonly withheld: readonly string[];
  readonly gitlinks: readonly string[];
  readonly totalBytes: number;
}

export async function layOut(job: LayOutJob): Promise<LaidOut> {
  const { runner, directory, targetDir, signal } = job;
  if ((await readdir(targetDir)).length > 0) throw new Error(`${targetDir} must be empty`);
  const base = await entriesInScope(job, job.place, job.tree);
  const { place, entries } = job.content
    ? { place: job.content.place, entries: (await entriesInScope(job, job.content.place, job.content.tree)).seeded }
    : { place: job.place, entries: base.seeded };
  if (entries.length > 0) await writeEntries({ runner, place, directory, entries, targetDir, signal });
  return base;
}

async function entriesInScope(job: LayOutJob, place: GitPlace, tree: ObjectId): Promise<LaidOut> {
  const args = ['ls-tree', '-r', '-z', '--long', tree];
  const listing = await job.runner.must({ ...place, args, signal: job.signal, maxBytes: SINGLE_TREE_BYTES });
  return sortEntries(listing, job);
}

/** Writes the entries' content below `targetDir`, byte for byte; executable files get their bit, links are links. */
export async function writeEntries(job: {
  readonly runner: GitRunner;
  readonly place: GitPlace;
  readonly directory: string;
  readonly entries: readonly SeededEntry[];
  readonly targetDir: string;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { runner, place, directory, entries, targetDir, signal } = job;
  const env = { ...place.env, GIT_INDEX_FILE: path.join(directory, 'layout.index'), GIT_WORK_TREE: targetDir };
  const laying = { gitDir: place.gitDir, env, signal };
  const input = Buffer.from(entries.map(({ mode, id, path: where }) => `${mode} ${id}\t${where}\0`).join(''));
  await runner.must({ ...laying, args: ['update-index', '-z', '--index-info'], input });
  // info/attributes of the private repository keeps bytes as they are, whatever the tree's own attributes say.
  await runner.must({ ...laying, args: ['checkout-index', '--all', '--quiet'] });
}

function sortEntries(listing: Buffer, { inScope, withhold }: LayOutJob): LaidOut {
  const seeded: SeededEntry[] = [];
  const withheld: string[] = [];
  const gitlinks: string[] = [];
  let totalBytes = 0;
  for (const { mode, id, size, path: where, pathBytes } of parseTreeListing(listing)) {
    const name = where ?? pathBytes.toString('utf8');
    if (!inScope(name)) continue;
    if (mode === '160000') gitlinks.push(name);
    else if (where === null || !normalizePath('file', where).ok || withhold(where)) withheld.push(name);
    else {
      seeded.push({ path: where, mode, id });
      totalBytes += size ?? 0;
    }
  }
  return { seeded, withheld, gitlinks, totalBytes };
}
