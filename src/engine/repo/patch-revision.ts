/** A revision from a patch. The patch is untrusted bytes; git is its only parser. */
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import type { ObjectId } from '../domain/ids.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { BuiltRevision, RevisionLimits, RevisionRefusal } from '../ports/private-repository.ts';
import { refusalFromApply, saysCorruptHunk } from './git-complaints.ts';
import type { GitRunner } from './git-runner.ts';
import { type PatchText, scanPatchText } from './patch-text.ts';
import type { Quarantine } from './quarantine.ts';
import { refusal } from './refusals.ts';
import type { Stores } from './stores.ts';
import { offerBaseOnly } from './strict-base.ts';
import { judgeTree } from './tree-rules.ts';

export interface PatchJob {
  readonly runner: GitRunner;
  readonly stores: Stores;
  readonly quarantine: Quarantine;
  /** Private directory for index files. */
  readonly directory: string;
  readonly baseCommit: ObjectId;
  readonly baseTree: ObjectId;
  readonly patch: Uint8Array;
  readonly limits: RevisionLimits;
  readonly signal: AbortSignal;
}

/** Applies the patch to the base in every reading that git knows; one meaning is needed. Objects stay in the quarantine. */
export async function revisionFromPatch(job: PatchJob): Promise<Result<BuiltRevision, RevisionRefusal>> {
  const { runner, stores, quarantine, baseCommit, baseTree, limits, signal } = job;
  const text = scanPatchText(job.patch);
  if (text.badName !== null) return err(refusal(text.badName.reason, null, text.badName.name));
  if (text.mayBeBinary) await offerBaseOnly(job);
  else await quarantine.offer([stores.baseObjects]);
  const baseIndex = path.join(job.directory, 'base.index');
  await runner.must({ ...stores.bases, ...withIndex(baseIndex), args: ['read-tree', baseTree], signal });
  const reading = await chooseReading(job, text, baseIndex);
  if (!reading.ok) return reading;
  await quarantine.offer([stores.baseObjects]);
  return judgeTree(runner, quarantine.place, { baseCommit, baseTree, limits, ...reading.value }, signal);
}

interface Reading {
  readonly resultTree: ObjectId;
  readonly via: 'plain' | 'recount';
}

type Applied = { readonly tree: ObjectId } | { readonly tree: null; readonly stderr: string };

async function chooseReading(
  job: PatchJob,
  text: PatchText,
  baseIndex: string,
): Promise<Result<Reading, RevisionRefusal>> {
  const apply = (options: readonly string[]) => applyOnce(job, baseIndex, options);
  // One after the other: what the first reading wrote need not be written again.
  const plain = await apply([]);
  const recount = await apply(['--recount']);
  if (plain.tree !== null) {
    const zero = text.hasUnanchoredHunk ? await apply(['--unidiff-zero']) : null;
    const agreed = [recount, zero].every((other) => !other?.tree || other.tree === plain.tree);
    if (!agreed || text.linesBeyondCounts) return err(refusal('patch_ambiguous', null));
    return ok({ resultTree: plain.tree, via: 'plain' });
  }
  if (!saysCorruptHunk(plain.stderr) || recount.tree === null) return err(refusalFromApply(plain.stderr));
  if (text.endsInsideHunk) return err(refusal('patch_truncated', null));
  const zero = await apply(['--recount', '--unidiff-zero']);
  if (zero.tree !== null && zero.tree !== recount.tree) return err(refusal('patch_ambiguous', null));
  return ok({ resultTree: recount.tree, via: 'recount' });
}

async function applyOnce(job: PatchJob, baseIndex: string, options: readonly string[]): Promise<Applied> {
  const index = path.join(job.directory, `apply${options.join('')}.index`);
  await copyFile(baseIndex, index);
  const place = job.quarantine.withIndex(index);
  const args = ['apply', '--cached', '-p1', '--whitespace=nowarn', ...options, '-'];
  const applied = await job.runner.run({ ...place, args, input: job.patch, signal: job.signal });
  if (applied.exitCode !== 0) return { tree: null, stderr: applied.stderr };
  // Blobs of untouched paths need not be in sight; the base store has them.
  const tree = await job.runner.must({ ...place, args: ['write-tree', '--missing-ok'], signal: job.signal });
  return { tree: tree.toString('latin1').trim() as ObjectId };
}

function withIndex(file: string): { env: Record<string, string> } {
  return { env: { GIT_INDEX_FILE: file } };
}
