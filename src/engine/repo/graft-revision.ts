/** The same change on a new base, made without a merge. */
import path from 'node:path';
import type { ObjectId } from '../domain/ids.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { BuiltRevision, RevisionLimits, RevisionRefusal } from '../ports/private-repository.ts';
import type { GitRunner } from './git-runner.ts';
import type { Quarantine } from './quarantine.ts';
import { refusal } from './refusals.ts';
import { type IndexChange, treeWith } from './result-tree.ts';
import type { Stores } from './stores.ts';
import { withTreeReader } from './tree-reader.ts';
import { diffRows, judgeTree } from './tree-rules.ts';

interface GraftJob {
  readonly runner: GitRunner;
  readonly stores: Stores;
  readonly quarantine: Quarantine;
  readonly directory: string;
  readonly oldTree: ObjectId;
  readonly resultTree: ObjectId;
  readonly newBase: ObjectId;
  readonly newTree: ObjectId;
  readonly limits: RevisionLimits;
  readonly signal: AbortSignal;
}

/** Null when a touched path has another mode or blob in the new base than in the old one. */
export async function graftRevision(job: GraftJob): Promise<Result<BuiltRevision | null, RevisionRefusal>> {
  const { runner, stores, quarantine, oldTree, resultTree, newTree, limits, signal } = job;
  await quarantine.offer([stores.revisionObjects, stores.baseObjects]);
  const rows = await diffRows(runner, quarantine.place, oldTree, resultTree, signal);
  if (rows.length === 0) return err(refusal('change_empty', null));
  const changes: IndexChange[] = [];
  for (const { path: where, pathBytes, newMode, newId } of rows) {
    if (where === null) return err(refusal('path_not_utf8', pathBytes.toString('utf8')));
    const gone = newMode === null || newId === null;
    changes.push(gone ? { path: where, mode: null, id: null } : { path: where, mode: newMode, id: newId });
  }
  const paths = changes.map((change) => change.path);
  const there = await withTreeReader(runner, stores.bases, signal, (reader) => reader.lookup(newTree, paths));
  for (const { path: where, oldMode, oldId } of rows) {
    const now = where === null ? undefined : there.get(where);
    if ((now?.mode ?? null) !== oldMode || (now?.id ?? null) !== oldId) return ok(null);
  }
  const index = path.join(job.directory, 'index');
  const graftedTree = await treeWith(runner, quarantine, index, newTree, changes, signal);
  if (graftedTree === null) return ok(null);
  const candidate = { baseCommit: job.newBase, baseTree: newTree, resultTree: graftedTree, via: null, limits };
  return judgeTree(runner, quarantine.place, candidate, signal);
}
