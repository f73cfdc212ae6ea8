import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ObjectId } from '../../src/engine/domain/ids.ts';
import { createPrivateRepository } from '../../src/engine/repo/private-repository.ts';
import { git, gitBytes, importCommits, type TreeContent } from '../support/git-repository.ts';

/** Times are medians in milliseconds of wall clock. */
export interface RevisionBench {
  readonly treeFiles: number;
  readonly changedFiles: number;
  readonly rounds: number;
  /** `read-tree`, `apply --cached`, `write-tree` by git alone, with an index and an object directory of their own. */
  readonly gitMs: number;
  /** The same patch through `revisionFromPatch`: both readings, all rules, line counts, digest. */
  readonly patchMs: number;
  /** The same change as an exported workspace through `revisionFromWorkspace`. */
  readonly workspaceMs: number;
  /** `provision` of 2,000 files. */
  readonly provisionMs: number;
  readonly patchRatio: number;
  readonly workspaceRatio: number;
}

/** Validation of a revision of 1,000 files on a tree of 20,000, against what git alone needs to make its tree. */
export async function benchRevision(rounds = 5): Promise<RevisionBench> {
  const room = mkdtempSync(path.join(os.tmpdir(), 'rt-bench-'));
  const signal = new AbortController().signal;
  try {
    const userGitDir = path.join(room, 'user.git');
    git(room, ['init', '--quiet', '--bare', 'user.git']);
    const [base, result] = importCommits(userGitDir, [treeOf(false), treeOf(true)]);
    if (base === undefined || result === undefined) throw new Error('two commits were asked for');
    const patch = gitBytes(userGitDir, ['diff-tree', '-r', '-p', '--full-index', base, result]);
    const limits = { maxFileBytes: 10_485_760, maxChangedFiles: 2_000 };
    const repository = createPrivateRepository({
      gitDir: path.join(room, 'objects.git'),
      userGitDir,
      userWorkTree: room,
      tempDir: path.join(room, 'temp'),
    });
    must(await repository.ensureBase(base, signal));
    // A repository without the result's blobs, so that git has to write them, too.
    const bases = path.join(room, 'bases.git');
    git(room, ['init', '--quiet', '--bare', 'bases.git']);
    git(bases, ['fetch', '--quiet', '--depth=1', userGitDir, base]);

    const seedDir = mkdtempSync(path.join(room, 'workspace-'));
    const inScope = (file: string) => file < `${directoryOf(SCOPE_DIRECTORIES)}/`;
    const withhold = () => false;
    const spec = { commit: base, inScope, withhold, targetDir: seedDir };
    const { seeded } = must(await repository.provision(spec, signal));
    const changed = [...treeOf(true)].slice(0, CHANGED_FILES);
    for (const [file, { content }] of changed) writeFileSync(path.join(seedDir, String(file)), content);
    const files = seeded.map((entry) => ({ path: entry.path, bytes: 100, executable: false }));
    const report = { files, directories: [], links: [], skipped: { count: 0, sample: [] }, totalBytes: 0 };

    const samples = {
      gitMs: [] as number[],
      patchMs: [] as number[],
      workspaceMs: [] as number[],
      provisionMs: [] as number[],
    };
    for (let round = 0; round < rounds; round++) {
      samples.gitMs.push(await timed(async () => gitAlone(room, bases, base, patch)));
      samples.patchMs.push(
        await timed(async () => must(await repository.revisionFromPatch({ baseCommit: base, patch, limits }, signal))),
      );
      const workspace = { baseCommit: base, seeded, inScope, withhold, dir: seedDir, report, limits };
      samples.workspaceMs.push(
        await timed(async () => must(await repository.revisionFromWorkspace(workspace, signal))),
      );
      const targetDir = mkdtempSync(path.join(room, 'provision-'));
      samples.provisionMs.push(
        await timed(async () => must(await repository.provision({ ...spec, targetDir }, signal))),
      );
    }
    const [gitMs, patchMs, workspaceMs, provisionMs] = [
      median(samples.gitMs),
      median(samples.patchMs),
      median(samples.workspaceMs),
      median(samples.provisionMs),
    ];
    return {
      treeFiles: TREE_FILES,
      changedFiles: CHANGED_FILES,
      rounds,
      gitMs,
      patchMs,
      workspaceMs,
      provisionMs,
      patchRatio: round2(patchMs / gitMs),
      workspaceRatio: round2(workspaceMs / gitMs),
    };
  } finally {
    rmSync(room, { recursive: true, force: true });
  }
}

const TREE_FILES = 20_000;
const CHANGED_FILES = 1_000;
const FILES_PER_DIRECTORY = 40;
/** 2,000 files are in scope. */
const SCOPE_DIRECTORIES = 50;

function directoryOf(index: number): string {
  const text = String(index).padStart(4, '0');
  return `d${text.slice(0, 2)}/m${text.slice(2)}`;
}

function treeOf(edited: boolean): TreeContent {
  const tree = new Map<string, { mode: string; content: string }>();
  for (let index = 0; index < TREE_FILES; index++) {
    const name = `${directoryOf(Math.floor(index / FILES_PER_DIRECTORY))}/file${index}.ts`;
    const lines = Array.from({ length: 30 }, (_, line) => `export const value${index}_${line} = ${line};\n`);
    if (edited && index < CHANGED_FILES) lines[10] = `export const changed${index} = true;\n`;
    tree.set(name, { mode: '100644', content: lines.join('') });
  }
  return tree;
}

function gitAlone(room: string, gitDir: string, base: ObjectId, patch: Buffer): void {
  const directory = mkdtempSync(path.join(room, 'alone-'));
  const env = {
    PATH: process.env.PATH ?? '',
    GIT_DIR: gitDir,
    GIT_INDEX_FILE: path.join(directory, 'index'),
    GIT_OBJECT_DIRECTORY: path.join(directory, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: path.join(gitDir, 'objects'),
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  const call = (args: string[], input: Buffer | string) => execFileSync('git', args, { env, input, cwd: room });
  mkdirSync(env.GIT_OBJECT_DIRECTORY);
  call(['read-tree', base], '');
  call(['apply', '--cached', '-p1', '--whitespace=nowarn', '-'], patch);
  call(['write-tree'], '');
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round((sorted[Math.floor(sorted.length / 2)] ?? 0) * 10) / 10;
}

function round2(value: number): number {
  return Math.round(value * 100) / 100;
}

function must<T>(result: { ok: true; value: T } | { ok: false; error: { message: string } }): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}
