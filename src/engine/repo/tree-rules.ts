import { createHash } from 'node:crypto';
import { collisionsOfTouched } from '../domain/case-fold.ts';
import { isHighRiskPath } from '../domain/high-risk.ts';
import type { ObjectId } from '../domain/ids.ts';
import { normalizePath } from '../domain/path.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { BuiltRevision, RevisionLimits, RevisionRefusal, TreeChange } from '../ports/private-repository.ts';
import { GitError, type GitPlace, type GitRunner } from './git-runner.ts';
import { parseRawDiff, type RawRow } from './raw-diff.ts';
import { refusal } from './refusals.ts';
import { type TreeReader, withTreeReader } from './tree-reader.ts';

interface Candidate {
  readonly baseCommit: ObjectId;
  readonly baseTree: ObjectId;
  readonly resultTree: ObjectId;
  readonly via: BuiltRevision['via'];
  readonly limits: RevisionLimits;
}

/**
 * Judges a result tree against its base: the tree diff is the truth, wherever it came from.
 * `place` must offer the objects of both trees.
 */
export async function judgeTree(
  runner: GitRunner,
  place: GitPlace,
  candidate: Candidate,
  signal: AbortSignal,
): Promise<Result<BuiltRevision, RevisionRefusal>> {
  const { baseTree, resultTree, limits } = candidate;
  if (baseTree === resultTree) return err(refusal('change_empty', null));
  const rows = await diffRows(runner, place, baseTree, resultTree, signal);
  const refused = refusalOfRows(rows, limits);
  if (refused !== null) return err(refused);
  const changes = rows.flatMap(changeOf);
  const [later, text] = await Promise.all([
    withTreeReader(
      runner,
      place,
      signal,
      async (reader) =>
        (await tooLargeFile(reader, changes, limits.maxFileBytes)) ?? (await collisionIn(reader, resultTree, changes)),
    ),
    readPatchText(runner, place, baseTree, resultTree, rows.length, signal),
  ]);
  if (later !== null) return err(later);
  return ok({
    baseCommit: candidate.baseCommit,
    baseTree,
    resultTree,
    changes,
    ...text,
    highRiskPaths: changes.map(({ path }) => path).filter(isHighRiskPath),
    via: candidate.via,
  });
}

/** Rows of base..result without rename detection. */
export async function diffRows(
  runner: GitRunner,
  place: GitPlace,
  oldTree: ObjectId,
  newTree: ObjectId,
  signal: AbortSignal,
): Promise<RawRow[]> {
  const args = ['diff-tree', '-r', '--raw', '-z', '--no-abbrev', '--no-renames', oldTree, newTree];
  return parseRawDiff(await runner.must({ ...place, args, signal, maxBytes: 1024 * 1024 * 1024 })).rows;
}

function refusalOfRows(rows: readonly RawRow[], limits: RevisionLimits): RevisionRefusal | null {
  if (rows.length === 0) return refusal('change_empty', null);
  if (rows.length > limits.maxChangedFiles) {
    return refusal('too_many_files', null, `${rows.length} of at most ${limits.maxChangedFiles}`);
  }
  for (const row of rows) {
    if (row.path === null) return refusal('path_not_utf8', row.pathBytes.toString('utf8'));
    const judged = normalizePath('file', row.path);
    if (!judged.ok) return refusal(judged.error.reason, row.path);
    for (const mode of [row.oldMode, row.newMode]) {
      if (mode === '120000') return refusal('mode_symlink', row.path);
      if (mode === '160000') return refusal('mode_gitlink', row.path);
    }
  }
  return null;
}

function changeOf(row: RawRow): TreeChange[] {
  if (row.path === null) return [];
  return [{ path: row.path, oldMode: row.oldMode, newMode: row.newMode, oldId: row.oldId, newId: row.newId }];
}

async function tooLargeFile(
  reader: TreeReader,
  changes: readonly TreeChange[],
  maxFileBytes: number,
): Promise<RevisionRefusal | null> {
  const added = changes.flatMap(({ path, newId }) => (newId === null ? [] : [{ path, newId }]));
  const sizes = await reader.sizes(added.map(({ newId }) => newId));
  for (const [index, change] of added.entries()) {
    const bytes = sizes[index];
    if (typeof bytes !== 'number') throw new GitError(['cat-file'], `${change.newId} is missing`, false);
    if (bytes > maxFileBytes) return refusal('file_too_large', change.path, `${bytes} bytes, at most ${maxFileBytes}`);
  }
  return null;
}

async function collisionIn(
  reader: TreeReader,
  resultTree: ObjectId,
  changes: readonly TreeChange[],
): Promise<RevisionRefusal | null> {
  const present = changes.filter(({ newMode }) => newMode !== null).map(({ path }) => path);
  if (present.length === 0) return null;
  const names = await reader.surroundings(resultTree, present);
  const [collision] = collisionsOfTouched(names, present);
  if (collision === undefined) return null;
  const reason =
    collision.kind === 'nfc' ? 'collision_nfc' : collision.kind === 'case' ? 'collision_case' : 'collision_file_dir';
  return refusal(reason, collision.later, `the tree has ${collision.earlier}`);
}

/** Digest of the canonical text of the diff, and its line counts. `rows` is the number of changed paths. */
async function readPatchText(
  runner: GitRunner,
  place: GitPlace,
  oldTree: ObjectId,
  newTree: ObjectId,
  rows: number,
  signal: AbortSignal,
): Promise<{ additions: number; deletions: number; patchDigest: string }> {
  const hash = createHash('sha256');
  const counts = { additions: 0, deletions: 0 };
  // One line of counts per path (names quoted, so none holds a line break), an empty line, then the text of the diff.
  let linesLeft = rows + 1;
  let pending: Buffer = Buffer.alloc(0);
  const onStdout = (chunk: Buffer): void => {
    if (linesLeft === 0) {
      hash.update(chunk);
      return;
    }
    pending = Buffer.concat([pending, chunk]);
    let start = 0;
    for (let end = pending.indexOf(10); end >= 0 && linesLeft > 0; end = pending.indexOf(10, start)) {
      const [added, deleted] = pending.toString('latin1', start, end).split('\t', 2);
      counts.additions += Number(added) || 0;
      counts.deletions += Number(deleted) || 0;
      linesLeft -= 1;
      start = end + 1;
    }
    pending = pending.subarray(start);
    if (linesLeft === 0) hash.update(pending);
  };
  const form = ['--numstat', '-p', '--unified=3', '--binary', '--full-index', '--no-renames'];
  const args = ['diff-tree', '-r', ...form, ...PLAIN_DIFF, oldTree, newTree];
  await runner.must({ ...place, args, signal, onStdout });
  return { ...counts, patchDigest: hash.digest('hex') };
}

/** Switches that make the text of a diff depend on the two trees alone. */
export const PLAIN_DIFF = [
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--no-indent-heuristic',
  '--diff-algorithm=myers',
  '--inter-hunk-context=0',
  '--src-prefix=a/',
  '--dst-prefix=b/',
] as const;
