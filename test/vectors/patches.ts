import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { ObjectId } from '../../src/engine/domain/ids.ts';
import type { BuiltRevision, PrivateRepository } from '../../src/engine/ports/private-repository.ts';
import { createPrivateRepository } from '../../src/engine/repo/private-repository.ts';
import { git, importCommits, type TreeContent } from '../support/git-repository.ts';
import { readCases } from './case-file.ts';
import { type CaseResult, type ExpectedVerdict, type VectorFamily, verdictDifference } from './family.ts';

interface BaseFile {
  readonly text?: string;
  readonly content_base64?: string;
  readonly gitlink?: string;
  readonly mode: string;
  readonly path_base64?: string;
}

interface PatchCase {
  readonly id: string;
  readonly base?: Readonly<Record<string, BaseFile>>;
  readonly patch_base64?: string;
  readonly recipe?: {
    readonly patch_repeat: { readonly count: number; readonly template: string };
    readonly base_repeat?: { readonly count: number; readonly path: string; readonly text: string };
    readonly base: Readonly<Record<string, string>>;
    readonly patch_sha256: string;
  };
  readonly limits?: { readonly max_file_bytes?: number; readonly max_changed_files?: number };
  readonly expect: ExpectedVerdict & {
    readonly path?: string;
    readonly path_base64?: string;
    readonly via?: string;
    readonly base_tree?: string;
    readonly result_tree?: string;
    readonly touched: readonly string[] | null;
    readonly touched_count?: number;
    readonly touched_sha256?: string;
    readonly changes?: readonly (readonly [string, string, string, string])[];
    readonly high_risk?: readonly string[];
  };
}

/** Applies every patch in one private repository, to bases in one user's repository. */
export const family: VectorFamily = {
  name: 'patches',
  async *run(directory, onMissing) {
    const cases = await readCases<PatchCase>(directory, 'patches/patches.json', onMissing);
    if (cases.length === 0) return;
    const room = await mkdtemp(path.join(os.tmpdir(), 'rt-patches-'));
    try {
      git(room, ['init', '--quiet', '--bare', 'user.git']);
      const userGitDir = path.join(room, 'user.git');
      const commits = importCommits(userGitDir, cases.map(baseOf));
      const gitDir = path.join(room, 'objects.git');
      const repository = createPrivateRepository({
        gitDir,
        userGitDir,
        userWorkTree: room,
        tempDir: path.join(room, 'temp'),
      });
      await fetchAll(repository, gitDir, userGitDir, commits);
      for (let from = 0; from < cases.length; from += AT_ONCE) {
        const portion = cases.slice(from, from + AT_ONCE);
        yield* await Promise.all(portion.map((one, index) => check(repository, one, commits[from + index])));
      }
    } finally {
      await rm(room, { recursive: true, force: true });
    }
  },
};

const AT_ONCE = 4;

/** All bases in one fetch instead of one each, which is what `ensureBase` would do; it finds them afterwards. */
async function fetchAll(
  repository: PrivateRepository,
  gitDir: string,
  userGitDir: string,
  commits: readonly ObjectId[],
): Promise<void> {
  const [first] = commits;
  if (first === undefined) return;
  const created = await repository.ensureBase(first, new AbortController().signal);
  if (!created.ok) throw new Error(created.error.message);
  const refspecs = commits.map((commit) => `+${commit}:refs/bases/${commit}\n`).join('');
  git(path.join(gitDir, 'bases'), ['fetch', '--quiet', '--depth=1', '--no-tags', '--stdin', userGitDir], refspecs);
}

async function check(repository: PrivateRepository, one: PatchCase, commit: ObjectId | undefined): Promise<CaseResult> {
  if (commit === undefined) throw new Error(`${one.id} has no base`);
  const built = await repository.revisionFromPatch(
    {
      baseCommit: commit,
      patch: patchOf(one),
      limits: {
        maxFileBytes: one.limits?.max_file_bytes ?? 10_485_760,
        maxChangedFiles: one.limits?.max_changed_files ?? 2_000,
      },
    },
    new AbortController().signal,
  );
  if (!built.ok && built.error.code !== 'revision_refused')
    return failed(one, `${built.error.code}: ${built.error.message}`);
  const refused = built.ok || built.error.code !== 'revision_refused' ? null : built.error;
  const difference = verdictDifference(one.expect, refused?.reason ?? null);
  if (difference !== null) return failed(one, `${difference}${refused === null ? '' : ` (${refused.message})`}`);
  const fault = built.ok ? faultOfRevision(one, built.value) : faultOfPath(one, refused?.path ?? null);
  return fault === null ? { id: one.id, ok: true, detail: '' } : failed(one, fault);
}

function failed({ id }: PatchCase, detail: string): CaseResult {
  return { id, ok: false, detail };
}

function faultOfPath({ expect }: PatchCase, actual: string | null): string | null {
  const wanted = expect.path ?? null;
  if (wanted === null) return null;
  return wanted === actual ? null : `expected path ${JSON.stringify(wanted)}, got ${JSON.stringify(actual)}`;
}

/** Tree ids bind every byte and mode of base and result, so equal ids leave nothing else to compare in them. */
function faultOfRevision({ expect }: PatchCase, revision: BuiltRevision): string | null {
  const touched = revision.changes.map((change) => change.path).sort();
  const names = createHash('sha256')
    .update(touched.map((name) => `${name}\n`).join(''))
    .digest('hex');
  const changes = revision.changes.map(({ path: name, oldMode, newMode }) => {
    const kind = oldMode === null ? 'A' : newMode === null ? 'D' : 'M';
    return [kind, name, oldMode ?? '000000', newMode ?? '000000'];
  });
  const pairs: [string, unknown, unknown][] = [
    ['base tree', expect.base_tree, revision.baseTree],
    ['result tree', expect.result_tree, revision.resultTree],
    ['reading', expect.via, revision.via],
    ['touched', expect.touched === null ? undefined : [...expect.touched].sort(), touched],
    ['touched count', expect.touched_count, touched.length],
    ['touched names', expect.touched_sha256, names],
    ['changes', expect.changes === undefined ? undefined : byName(expect.changes), byName(changes)],
    ['high risk', expect.high_risk, revision.highRiskPaths],
  ];
  for (const [what, wanted, actual] of pairs) {
    if (wanted === undefined || JSON.stringify(wanted) === JSON.stringify(actual)) continue;
    return `${what}: expected ${JSON.stringify(wanted)}, got ${JSON.stringify(actual)}`;
  }
  return null;
}

function byName(changes: readonly (readonly unknown[])[]): unknown[] {
  return [...changes].sort((a, b) => (String(a[1]) < String(b[1]) ? -1 : 1));
}

function baseOf({ base, recipe }: PatchCase): TreeContent {
  const tree = new Map<string | Buffer, { mode: string; content: Buffer | string }>();
  for (const [name, file] of Object.entries(base ?? {})) {
    const key = file.path_base64 === undefined ? name : Buffer.from(file.path_base64, 'base64');
    const content = file.gitlink ?? file.text ?? Buffer.from(file.content_base64 ?? '', 'base64');
    tree.set(key, { mode: file.gitlink === undefined ? file.mode : '160000', content });
  }
  for (const [name, text] of Object.entries(recipe?.base ?? {})) tree.set(name, { mode: '100644', content: text });
  const repeat = recipe?.base_repeat;
  for (let index = 0; repeat !== undefined && index < repeat.count; index++) {
    const filled = (text: string) => text.replaceAll('{i}', counter(index));
    tree.set(filled(repeat.path), { mode: '100644', content: filled(repeat.text) });
  }
  return tree;
}

function patchOf({ id, patch_base64, recipe }: PatchCase): Buffer {
  if (recipe === undefined) return Buffer.from(patch_base64 ?? '', 'base64');
  const { count, template } = recipe.patch_repeat;
  const sections = Array.from({ length: count }, (_, index) => template.replaceAll('{i}', counter(index)));
  const patch = Buffer.from(sections.join(''));
  const digest = createHash('sha256').update(patch).digest('hex');
  if (digest !== recipe.patch_sha256) throw new Error(`${id}: the recipe makes another patch`);
  return patch;
}

function counter(index: number): string {
  return String(index).padStart(5, '0');
}
