/**
 * A revision from a session's exported workspace. Trusts: that the extractor wrote plain files only, below `spec.dir`, and
 * that nobody else writes there. Does not trust: names, content, absence (workspaces are partial).
 */
import path from 'node:path';
import type { ObjectId } from '../domain/ids.ts';
import { normalizePath } from '../domain/path.ts';
import { err, type Result } from '../domain/result.ts';
import type { BuiltRevision, RevisionRefusal, SeededEntry, WorkspaceSpec } from '../ports/private-repository.ts';
import type { GitRunner } from './git-runner.ts';
import { hashFiles, objectIdOf } from './hash-files.ts';
import type { Quarantine } from './quarantine.ts';
import { refusal } from './refusals.ts';
import { type IndexChange, treeWith } from './result-tree.ts';
import type { Stores } from './stores.ts';
import { type FoundEntry, withTreeReader } from './tree-reader.ts';
import { judgeTree } from './tree-rules.ts';

interface WorkspaceJob {
  readonly runner: GitRunner;
  readonly stores: Stores;
  readonly quarantine: Quarantine;
  readonly directory: string;
  readonly baseTree: ObjectId;
  readonly spec: WorkspaceSpec;
  readonly signal: AbortSignal;
}

/** Base tree with the seeded paths replaced by what the workspace holds, and its new files added. */
export async function revisionFromWorkspace(job: WorkspaceJob): Promise<Result<BuiltRevision, RevisionRefusal>> {
  const { runner, stores, quarantine, baseTree, spec, signal } = job;
  const { limits } = spec;
  const sorted = sortFiles(spec);
  const refused = sorted.refused ?? (await refusalOfNewPaths(job, sorted));
  if (refused !== null) return err(refused);

  await quarantine.offer([stores.baseObjects]);
  const present = [...sorted.kept, ...sorted.added];
  const ids = await hashFiles(
    spec.dir,
    present.map(({ file }) => file),
    baseTree.length === 64 ? 'sha256' : 'sha1',
    signal,
  );
  const changes: IndexChange[] = sorted.removed.map(({ path: gone }) => ({ path: gone, mode: null, id: null }));
  const toStore: { file: string; id: ObjectId }[] = [];
  for (const [index, { path: where, file, mode, seeded }] of present.entries()) {
    const id = ids[index];
    if (id === undefined) throw new Error('every file has an id');
    if (seeded !== null && seeded.id === id && seeded.mode === mode) continue;
    if (seeded?.id !== id) toStore.push({ file, id });
    changes.push({ path: where, mode, id });
  }
  if (changes.length === 0) return err(refusal('change_empty', null));
  // Before anything is stored, so that a workspace of many files costs no more than its refusal.
  if (changes.length > limits.maxChangedFiles) {
    return err(refusal('too_many_files', null, `${changes.length} of at most ${limits.maxChangedFiles}`));
  }
  await storeFiles(job, toStore);
  const resultTree = await treeWith(runner, quarantine, path.join(job.directory, 'index'), baseTree, changes, signal);
  if (resultTree === null) return err(refusal('collision_file_dir', null));
  const candidate = { baseCommit: spec.baseCommit, baseTree, resultTree, via: null, limits };
  return judgeTree(runner, quarantine.place, candidate, signal);
}

interface PresentFile {
  /** As the tree names it; can differ from `file` in normalisation. */
  readonly path: string;
  /** As the extractor wrote it. */
  readonly file: string;
  readonly mode: '100644' | '100755';
  readonly seeded: SeededEntry | null;
}

interface SortedFiles {
  readonly kept: PresentFile[];
  readonly added: PresentFile[];
  readonly removed: SeededEntry[];
  readonly refused: RevisionRefusal | null;
}

function sortFiles(spec: WorkspaceSpec): SortedFiles {
  const kept: PresentFile[] = [];
  const added: PresentFile[] = [];
  const seededAs = seededByName(spec.seeded);
  const left = new Set(spec.seeded.filter(({ mode }) => mode !== '160000'));
  const refuse = (refused: RevisionRefusal): SortedFiles => ({ kept, added, removed: [], refused });
  for (const { path: file, bytes, executable } of spec.report.files) {
    const judged = normalizePath('file', file);
    if (!judged.ok) return refuse(refusal(judged.error.reason, file));
    if (bytes > spec.limits.maxFileBytes) {
      return refuse(refusal('file_too_large', file, `${bytes} bytes, at most ${spec.limits.maxFileBytes}`));
    }
    const seeded = seededAs.get(file) ?? null;
    const mode = executable ? '100755' : '100644';
    if (seeded === null) added.push({ path: file, file, mode, seeded });
    else if (seeded.mode === '120000') return refuse(refusal('mode_symlink', seeded.path, 'a file took its place'));
    else {
      left.delete(seeded);
      kept.push({ path: seeded.path, file, mode, seeded });
    }
  }
  for (const link of spec.report.links) {
    const seeded = seededAs.get(link.path);
    if (
      seeded === undefined ||
      seeded.mode !== '120000' ||
      objectIdOf(Buffer.from(link.target), seeded.id) !== seeded.id
    ) {
      return refuse(refusal('mode_symlink', link.path));
    }
    left.delete(seeded);
  }
  const removed = [...left];
  const lostLink = removed.find(({ mode }) => mode === '120000');
  if (lostLink !== undefined) return refuse(refusal('mode_symlink', lostLink.path, 'the link is gone'));
  return { kept, added, removed, refused: null };
}

/** Extracted names are NFC; a base may hold another form. The exact name wins where both were seeded. */
function seededByName(seeded: readonly SeededEntry[]): Map<string, SeededEntry> {
  const names = new Map<string, SeededEntry>();
  for (const entry of seeded) {
    const normal = entry.path.normalize('NFC');
    if (normal !== entry.path) names.set(normal, entry);
  }
  for (const entry of seeded) names.set(entry.path, entry);
  return names;
}

async function refusalOfNewPaths(job: WorkspaceJob, sorted: SortedFiles): Promise<RevisionRefusal | null> {
  const { runner, stores, baseTree, spec, signal } = job;
  if (sorted.added.length === 0) return null;
  const removed = new Set(sorted.removed.map((entry) => entry.path));
  const paths = sorted.added.map((file) => file.path);
  const asked = new Set([...paths, ...paths.flatMap(parentsOf)]);
  const inBase = await withTreeReader(runner, stores.bases, signal, (reader) => reader.lookup(baseTree, asked));
  for (const where of paths) {
    if (spec.withhold(where)) return refusal('workspace_withheld', where);
    const there = inBase.get(where);
    if (there !== undefined && there.mode !== '040000') return refusal('workspace_unseeded', where);
    if (!spec.inScope(where)) return refusal('workspace_out_of_scope', where);
    const obstacle = parentsOf(where).find((parent) => obstructs(inBase.get(parent)) && !removed.has(parent));
    if (obstacle !== undefined) {
      const mode = inBase.get(obstacle)?.mode;
      const reason =
        mode === '120000' ? 'path_beyond_symlink' : mode === '160000' ? 'mode_gitlink' : 'collision_file_dir';
      return refusal(reason, where, `${obstacle} is in the base`);
    }
  }
  return null;
}

function obstructs(entry: FoundEntry | undefined): boolean {
  return entry !== undefined && entry.mode !== '040000';
}

function parentsOf(where: string): string[] {
  const parts = where.split('/');
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

async function storeFiles(job: WorkspaceJob, files: readonly { file: string; id: ObjectId }[]): Promise<void> {
  if (files.length === 0) return;
  const input = Buffer.from(files.map(({ file }) => `${path.join(job.spec.dir, file)}\n`).join(''));
  const args = ['hash-object', '-w', '--no-filters', '--stdin-paths'];
  const output = await job.runner.must({ ...job.quarantine.place, args, input, signal: job.signal });
  const stored = output.toString('latin1').trimEnd().split('\n');
  if (files.some(({ id }, index) => stored[index] !== id)) throw new Error('a workspace changed while it was read');
}
