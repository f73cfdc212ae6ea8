import path from 'node:path';
import type { Fs } from '../../ports/fs.ts';
import type { WorkTree } from '../../ports/target-repository.ts';

/** Our own files of one transaction: named after it alone, so that whoever comes later finds them. */
export interface Workspace {
  /** On the work tree's file system: files are linked and renamed between here and there. */
  readonly dir: string;
  readonly staged: string;
  readonly backups: string;
  /** What a recovery took away, until it is known to be ours. */
  readonly displaced: string;
  readonly scratchIndex: string;
  /** The new index, beside the real one: it is linked to the lock's name. */
  readonly index: string;
}

const PREFIX = 'roundtable-';

export function workspaceOf(
  transactionId: string,
  worktree: WorkTree,
  stageIn: 'state' | 'worktree',
  stateTempDir: string,
): Workspace {
  const name = `${PREFIX}${transactionId}`;
  const dir = stageIn === 'state' ? path.join(stateTempDir, name) : path.join(worktree.root, `.${name}`);
  return {
    dir,
    staged: path.join(dir, 'staged'),
    backups: path.join(dir, 'backups'),
    displaced: path.join(dir, 'displaced'),
    scratchIndex: path.join(dir, 'scratch-index'),
    index: path.join(worktree.gitDir, `${name}.index`),
  };
}

/** Transaction id that a leftover's name carries, or null when the name is not one of ours. */
export function transactionOfName(name: string): string | null {
  return /^\.?roundtable-(TX-\d+)(?:\.index(?:\.lock)?)?$/.exec(name)?.[1] ?? null;
}

/** The state directory where it shares the work tree's file system, else the work tree itself. */
export async function stageLocation(fs: Fs, worktree: WorkTree, stateTempDir: string): Promise<'state' | 'worktree'> {
  const [root, state] = await Promise.all([fs.lstat(worktree.root), fs.lstat(stateTempDir)]);
  return root !== null && root.device === state?.device ? 'state' : 'worktree';
}

export async function createWorkspace(fs: Fs, workspace: Workspace): Promise<void> {
  await fs.removeTree(workspace.dir);
  await fs.mkdir(workspace.dir, 0o700);
  // At the root of a work tree nobody must see it as untracked, nor add it.
  await fs.writeFile(path.join(workspace.dir, '.gitignore'), '*\n');
  for (const directory of [workspace.staged, workspace.backups, workspace.displaced]) await fs.mkdir(directory);
}
