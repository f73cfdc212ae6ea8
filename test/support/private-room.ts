import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ObjectId } from '../../src/engine/domain/ids.ts';
import type { ExtractReport } from '../../src/engine/ports/exporter.ts';
import type { Provisioned } from '../../src/engine/ports/private-repository.ts';
import { createPrivateRepository, type SweepablePrivateRepository } from '../../src/engine/repo/private-repository.ts';
import { git, importCommits, type TreeContent } from './git-repository.ts';

export const LIMITS = { maxFileBytes: 10_485_760, maxChangedFiles: 2_000 };
export const signal = new AbortController().signal;

/** A user's bare-bones repository and the private one beside it, in a temporary directory. */
export interface PrivateRoom {
  readonly dir: string;
  readonly userGitDir: string;
  readonly commits: readonly ObjectId[];
  readonly repository: SweepablePrivateRepository;
  /** A fresh empty directory. */
  directory(): string;
  close(): void;
}

/** Files as `{path: text}`; `x:` in front makes it executable, `link:` in the text makes a link, `gitlink:` a submodule. */
export type Files = Readonly<Record<string, string | Buffer>>;

export function openPrivateRoom(trees: readonly Files[], objectFormat = 'sha1'): PrivateRoom {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'rt-repo-'));
  const userGitDir = path.join(dir, 'user.git');
  git(dir, ['init', '--quiet', '--bare', `--object-format=${objectFormat}`, 'user.git']);
  const commits = importCommits(userGitDir, trees.map(treeOf));
  const repository = privateRepositoryFor(dir, userGitDir);
  let count = 0;
  return {
    dir,
    userGitDir,
    commits,
    repository,
    directory() {
      const fresh = path.join(dir, `dir-${count++}`);
      mkdirSync(fresh, { mode: 0o700 });
      return fresh;
    },
    close: () => rmSync(dir, { recursive: true, force: true }),
  };
}

export function privateRepositoryFor(dir: string, userGitDir: string): SweepablePrivateRepository {
  return createPrivateRepository({
    gitDir: path.join(dir, 'objects.git'),
    userGitDir,
    userWorkTree: dir,
    tempDir: path.join(dir, 'temp'),
  });
}

/** Every file and link below a directory as the extractor reports them, names brought to NFC on disk as it does. */
export function reportOf(dir: string): ExtractReport {
  const files: { path: string; bytes: number; executable: boolean }[] = [];
  const links: { path: string; target: string }[] = [];
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const full = path.join(entry.parentPath, entry.name);
    const name = path.relative(dir, full);
    if (entry.isSymbolicLink()) links.push({ path: name, target: readlinkSync(full) });
    else if (entry.isFile()) {
      const { size, mode } = statSync(full);
      const normal = name.normalize('NFC');
      if (normal !== name) renameSync(full, path.join(dir, normal));
      files.push({ path: normal, bytes: size, executable: (mode & 0o100) !== 0 });
    }
  }
  return { files, directories: [], links, skipped: { count: 0, sample: [] }, totalBytes: 0 };
}

/** Everything below a directory: mode letter and bytes per path. */
export function contentOf(dir: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort()) {
    const full = path.join(dir, name);
    const stat = lstatSync(full);
    if (stat.isSymbolicLink()) found[name] = `l:${readlinkSync(full)}`;
    else if (stat.isFile()) found[name] = `${(stat.mode & 0o100) === 0 ? 'f' : 'x'}:${readFileSync(full, 'latin1')}`;
  }
  return found;
}

export function must<T>(result: { ok: true; value: T } | { ok: false; error: { message: string } }): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

export function seededPaths({ seeded }: Provisioned): string[] {
  return seeded.map((entry) => entry.path);
}

function treeOf(files: Files): TreeContent {
  const tree = new Map<string, { mode: string; content: Buffer | string }>();
  for (const [name, content] of Object.entries(files)) {
    if (typeof content === 'string' && content.startsWith('link:'))
      tree.set(name, { mode: '120000', content: content.slice('link:'.length) });
    else if (typeof content === 'string' && content.startsWith('gitlink:'))
      tree.set(name, { mode: '160000', content: content.slice('gitlink:'.length) });
    else if (name.startsWith('x:')) tree.set(name.slice(2), { mode: '100755', content });
    else tree.set(name, { mode: '100644', content });
  }
  return tree;
}
