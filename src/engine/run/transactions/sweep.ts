import path from 'node:path';
import type { TransactionId } from '../../domain/ids.ts';
import { dropWorkspace } from './cleanup.ts';
import { neverAborted, type TransactionDeps } from './deps.ts';
import { readJournal } from './journal-text.ts';
import { transactionOfName, workspaceOf } from './workspace.ts';

/**
 * Removes what closed or never recorded transactions left behind, in the state directory and beside every work tree.
 * Answers files with somebody's edits that were kept.
 */
export async function sweepLeftovers(deps: TransactionDeps): Promise<string[]> {
  const { fs, journal, target, stateTempDir } = deps;
  const open = new Set(journal.open().map((record) => String(record.id)));
  const kept: string[] = [];
  for (const place of await target.places(neverAborted())) {
    for (const directory of [stateTempDir, place.gitDir, place.root]) {
      for (const name of directory === null ? [] : ((await fs.readdir(directory)) ?? [])) {
        const id = transactionOfName(name);
        if (id === null || open.has(id) || directory === null) continue;
        kept.push(...(await sweepOne(deps, id as TransactionId, path.join(directory, name))));
      }
    }
  }
  return kept;
}

async function sweepOne(deps: TransactionDeps, id: TransactionId, leftover: string): Promise<string[]> {
  const record = deps.journal.get(id);
  const files = record === null ? null : readJournal(record).files;
  let kept: string[] = [];
  if (record !== null && files !== null) {
    const place = await deps.target.relocate(record.targetRef, files.worktree, neverAborted());
    if (place.worktree !== null) {
      const workspace = workspaceOf(id, place.worktree, files.stageIn, deps.stateTempDir);
      kept = await dropWorkspace(deps, id, workspace, files);
    }
  }
  const entry = await deps.fs.lstat(leftover);
  if (entry?.kind === 'directory') await deps.fs.removeTree(leftover);
  else if (entry !== null) await deps.fs.unlink(leftover);
  return kept;
}
