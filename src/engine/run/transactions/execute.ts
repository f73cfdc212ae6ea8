import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ObjectId } from '../../domain/ids.ts';
import type { TransactionRecord } from '../../domain/records.ts';
import { err, ok, type Result } from '../../domain/result.ts';
import type { FsEntry } from '../../ports/fs.ts';
import type { WriteScope } from '../../ports/store.ts';
import { type RefLock, TargetGitError, type TargetPlace, type WorkTree } from '../../ports/target-repository.ts';
import type { Settle } from '../../ports/transaction-journal.ts';
import { changeFiles } from './change-files.ts';
import { dropWorkspace, removeEmptiedDirectories } from './cleanup.ts';
import { concurrently, FILE_CONCURRENCY } from './concurrently.ts';
import type { TransactionDeps } from './deps.ts';
import { describeRefLocks, REF_LOCK_PHASE, type RefLockNote } from './hold-ref.ts';
import { dropIndexLock, finishIndex, indexFile, takeIndexLock } from './index-lock.ts';
import { type Journal, type JournalFiles, readJournal, writeJournal } from './journal-text.ts';
import { inPhase, JournalFailure } from './phases.ts';
import { orderOf, prepareFiles, removedFiles } from './prepare-files.ts';
import { RecoveryBlocked, recoverTransaction } from './recovery.ts';
import { refusal, refuse, type TransactionRefusal } from './refusal.ts';
import { verifyPaths } from './verify.ts';
import { createWorkspace, stageLocation, type Workspace, workspaceOf } from './workspace.ts';

/** One change of the target, from tree to tree, whose objects are in the user's repository. */
export interface TransactionPlan {
  readonly record: Pick<TransactionRecord, 'id' | 'kind' | 'proposalId' | 'revision' | 'revertsId'>;
  readonly place: TargetPlace;
  readonly oldCommit: ObjectId;
  readonly oldTree: ObjectId;
  readonly newTree: ObjectId;
  /** Object ids that were written for it and whose directories are not synced yet. */
  readonly written: readonly ObjectId[];
  /** Null: no commit is made, the change ends up in index and work tree. */
  readonly commitMessage: string | null;
  readonly reflogMessage: string;
  readonly begin: (scope: WriteScope) => void;
  readonly settle: Settle;
}

export interface Applied {
  readonly record: TransactionRecord;
  /** Null when no commit was asked for. */
  readonly newCommit: ObjectId | null;
  readonly oldCommit: ObjectId;
  readonly paths: readonly string[];
  /** Files in which edits of the user were found that came in while his file was being replaced. */
  readonly kept: readonly string[];
}

/** Steps 0–9. Whatever happens, the target is afterwards wholly changed or wholly not, or the next recovery makes it so. */
export async function executeTransaction(
  deps: TransactionDeps,
  plan: TransactionPlan,
  signal: AbortSignal,
): Promise<Result<Applied, TransactionRefusal>> {
  const run = new Execution(deps, plan);
  let failure: TransactionRefusal;
  try {
    const outcome = await run.steps(signal);
    if (outcome.ok) return outcome;
    failure = outcome.error;
  } catch (cause) {
    const expected = expectedFailure(cause);
    if (expected === null) {
      // A bug. What is undone is undone on the way out; what is not, the next start recovers.
      await run.giveUp('an internal error').catch(() => undefined);
      throw cause;
    }
    failure = expected;
  }
  return run.giveUp(failure.message, failure);
}

class Execution {
  readonly #deps: TransactionDeps;
  readonly #plan: TransactionPlan;
  #workspace: Workspace | null = null;
  #refLock: RefLock | null = null;
  #journaled = false;

  constructor(deps: TransactionDeps, plan: TransactionPlan) {
    this.#deps = deps;
    this.#plan = plan;
  }

  async steps(signal: AbortSignal): Promise<Result<Applied, TransactionRefusal>> {
    const { target, journal } = this.#deps;
    const { place, record } = this.#plan;
    const { worktree } = place;

    const prepared = await this.#prepare(signal);
    if (!prepared.ok) return prepared;
    let text = prepared.value;

    if (text.files !== null && worktree !== null) {
      const locked = await inPhase(
        journal,
        record.id,
        'lock-index',
        () => this.#lockIndex(worktree, text, signal),
        problemOf,
      );
      if (!locked.ok) return locked;
      text = locked.value;
    }
    const held = await this.#lockRef(text, signal);
    if (!held.ok) return held;
    const { files } = text;

    const verified = await inPhase(journal, record.id, 'verify', () => this.#verify(files, signal), problemOf);
    if (!verified.ok) return verified;
    must(await journal.verified(record.id));
    if (files !== null) await inPhase(journal, record.id, 'sync-staged', () => this.#syncStaged(files));
    if (signal.aborted) return refuse('cancelled', 'cancelled before anything was changed');
    must(await journal.applying(record.id));

    // From here on nothing is cancelled: it ends, or it is taken back.
    let backups: ReadonlyMap<number, FsEntry> = new Map();
    if (files !== null && worktree !== null) {
      const changed = await inPhase(
        journal,
        record.id,
        'change-files',
        () => changeFiles(this.#deps.fs, worktree.root, this.#own(), files),
        (value) => (value.raced.length === 0 ? null : 'files were edited meanwhile'),
      );
      if (changed.raced.length > 0)
        return refuse('worktree_dirty', 'files were edited while they were being changed', changed.raced);
      backups = changed.backups;
    }
    if (text.newCommit === null) {
      await this.#releaseRef();
    } else {
      const landed = await inPhase(journal, record.id, 'commit', () => held.value.commit());
      this.#refLock = null;
      if (!landed) return refuse('git_failed', `git did not move ${place.ref}`);
      for (const directory of target.refDirectories(place)) await this.#deps.fs.syncDirectory(directory);
    }
    if (files !== null && worktree !== null) {
      const done = await inPhase(journal, record.id, 'index', () =>
        finishIndex(this.#deps, place, worktree, this.#own(), files),
      );
      if (!done) return refuse('git_busy', 'another git holds the index');
    }
    const closed = await journal.close(
      record.id,
      {
        outcome: 'applied',
        reason: 'applied',
        needsOperator: false,
        recovered: false,
        left: [],
        newCommit: text.newCommit,
      },
      this.#plan.settle,
    );
    const ended = must(closed);
    const kept = await this.#afterwards(files, backups);
    return ok({
      record: ended,
      newCommit: text.newCommit,
      oldCommit: text.oldCommit,
      paths: files === null ? [] : files.paths.map((entry) => entry.path),
      kept,
    });
  }

  /** Step 0, up to the journal row. Nothing that anybody else looks at is changed. */
  async #prepare(signal: AbortSignal): Promise<Result<Journal, TransactionRefusal>> {
    const { target, fs, journal, clock, stateTempDir } = this.#deps;
    const { place, oldCommit, oldTree, newTree, record, written } = this.#plan;
    const { worktree } = place;
    const changes = await target.diff(place, oldTree, newTree, signal);
    if (changes.length === 0) return refuse('nothing_to_do', 'the change is empty');
    const odd = changes.filter((row) => !isFileMode(row.oldMode) || !isFileMode(row.newMode)).map((row) => row.path);
    if (odd.length > 0) return refuse('mode_unsupported', 'the change touches links or submodules', odd);
    const paths = changes.map((row) => row.path);

    let files: Omit<JournalFiles, 'oldIndex' | 'newIndex'> | null = null;
    if (worktree !== null) {
      if (worktree.sparse) return refuse('sparse_checkout', 'the work tree is a sparse checkout', paths);
      const stageIn = await stageLocation(fs, worktree, stateTempDir);
      this.#workspace = workspaceOf(record.id, worktree, stageIn, stateTempDir);
      await createWorkspace(fs, this.#workspace);
      const ready = await prepareFiles(this.#deps, place, worktree, this.#workspace, { newTree, changes }, signal);
      if (!ready.ok) return ready;
      files = { ...ready.value, stageIn };
    }
    let newCommit: ObjectId | null = null;
    if (this.#plan.commitMessage !== null) {
      const spec = { tree: newTree, parent: oldCommit, message: this.#plan.commitMessage };
      const made = await target.createCommit(place, spec, signal);
      if (!made.ok) return refuse(made.error.code, made.error.message);
      newCommit = made.value;
    }
    const objects = newCommit === null ? written : [...written, newCommit];
    for (const directory of target.objectDirectories(place, objects)) await fs.syncDirectory(directory);

    const text = { version: 1 as const, oldCommit, oldTree, newTree, newCommit };
    const withIndex: Journal =
      files === null || worktree === null
        ? { ...text, files: null }
        : { ...text, files: { ...files, ...(await this.#buildIndex(worktree, files.paths, signal)) } };
    const row: TransactionRecord = {
      ...record,
      status: 'prepared',
      statusReason: null,
      needsOperator: false,
      targetRef: place.ref,
      oldCommit,
      newCommit: null,
      journal: writeJournal(withIndex),
      createdAt: clock.now(),
      endedAt: null,
    };
    must(await journal.prepare(row, this.#plan.begin));
    this.#journaled = true;
    return ok(withIndex);
  }

  async #buildIndex(
    worktree: WorkTree,
    paths: JournalFiles['paths'],
    signal: AbortSignal,
  ): Promise<Pick<JournalFiles, 'oldIndex' | 'newIndex'>> {
    const { fs, target } = this.#deps;
    const oldIndex = await fs.sha256(indexFile(worktree));
    const updates = paths.map((entry) => ({ path: entry.path, entry: entry.result }));
    await target.buildIndex(this.#plan.place, updates, this.#own().index, signal);
    const newIndex = await fs.sha256(this.#own().index);
    if (newIndex === null) throw new Error('git made no index');
    return { oldIndex, newIndex };
  }

  /** Step 1. Git refreshes its index at any time; then the new one is built again from what is there now. */
  async #lockIndex(
    worktree: WorkTree,
    text: Journal,
    signal: AbortSignal,
  ): Promise<Result<Journal, TransactionRefusal>> {
    const { fs, journal, busy } = this.#deps;
    let current = text;
    for (let attempt = 1; attempt <= busy.attempts && current.files !== null; attempt += 1) {
      const { files } = current;
      if ((await fs.sha256(indexFile(worktree))) === files.oldIndex) {
        if (!(await takeIndexLock(fs, worktree, this.#own().index, busy))) break;
        if ((await fs.sha256(indexFile(worktree))) === files.oldIndex) return ok(current);
        await dropIndexLock(fs, worktree, files.newIndex);
      }
      current = { ...current, files: { ...files, ...(await this.#buildIndex(worktree, files.paths, signal)) } };
      const row = journal.get(this.#plan.record.id);
      if (row === null) throw new Error(`${this.#plan.record.id} is not in the journal`);
      must(await journal.reprepare({ ...row, journal: writeJournal(current) }));
    }
    return refuse('git_busy', 'another git holds the index');
  }

  /** Step 2. */
  async #lockRef(text: Journal, signal: AbortSignal): Promise<Result<RefLock, TransactionRefusal>> {
    const { target, fs, journal, busy } = this.#deps;
    const { place, record, reflogMessage } = this.#plan;
    for (let attempt = 1; ; attempt += 1) {
      const note = async (value: RefLockNote) => {
        const started = must(await journal.phaseStarted(record.id, REF_LOCK_PHASE, JSON.stringify(value)));
        must(await journal.phaseEnded(record.id, started, 'ok', JSON.stringify(value)));
      };
      const announced = async (pid: number) => note({ process: await fs.processIdentity(pid), locks: [] });
      const spec = { old: text.oldCommit, new: text.newCommit, reflogMessage, announced };
      const locked = await target.lockRef(place, spec, signal);
      if (locked.ok) {
        this.#refLock = locked.value;
        const { ref, head } = target.refLockFiles(place);
        await note({ process: locked.value.process, locks: await describeRefLocks(fs, [ref, head]) });
        return ok(locked.value);
      }
      if (locked.error.code !== 'git_busy' || attempt >= busy.attempts)
        return refuse(locked.error.code, locked.error.message);
      await delay(busy.delayMs);
    }
  }

  /** Step 3, while index and reference are ours. */
  async #verify(files: JournalFiles | null, signal: AbortSignal): Promise<Result<void, TransactionRefusal>> {
    const { place } = this.#plan;
    const { worktree } = place;
    if (files === null || worktree === null) return ok(undefined);
    const head = await this.#deps.target.headTarget(place, signal);
    if (head !== (place.ref === 'HEAD' ? null : place.ref))
      return refuse('head_moved', `HEAD is ${head ?? 'detached'} now, not ${place.ref}`);
    const order = orderOf(files.paths);
    return verifyPaths(this.#deps, place, worktree, files.paths, order, removedFiles(files.paths), signal);
  }

  /** Step 4. */
  async #syncStaged(files: JournalFiles): Promise<void> {
    const { fs } = this.#deps;
    const workspace = this.#own();
    const staged = files.paths.filter((entry) => entry.result !== null).map((entry) => entry.path);
    await concurrently(staged, FILE_CONCURRENCY, (file) => fs.syncFile(path.join(workspace.staged, file)));
    for (const directory of [workspace.dir, path.dirname(workspace.dir)]) await fs.syncDirectory(directory);
  }

  /** Step 9. The transaction is over; what fails here is tidied up at the next start. */
  async #afterwards(files: JournalFiles | null, backups: ReadonlyMap<number, FsEntry>): Promise<string[]> {
    const { place, record } = this.#plan;
    const { worktree } = place;
    if (files === null || worktree === null) return [];
    try {
      await removeEmptiedDirectories(this.#deps.fs, worktree.root, files);
      const kept = await dropWorkspace(this.#deps, record.id, this.#own(), files, backups);
      await this.#deps.target.refreshIndex(place);
      return kept;
    } catch (cause) {
      if (expectedFailure(cause) === null) throw cause;
      return [];
    }
  }

  /** The way out of a refusal or failure: everything back, by the recovery table once there is a journal row. */
  async giveUp(reason: string, failure?: TransactionRefusal): Promise<Result<Applied, TransactionRefusal>> {
    const { journal } = this.#deps;
    const { record } = this.#plan;
    try {
      await this.#releaseRef();
      const row = this.#journaled ? journal.get(record.id) : null;
      if (row === null) {
        if (this.#workspace !== null) await dropWorkspace(this.#deps, record.id, this.#workspace, null);
        return err(failure ?? refusal('io_failed', reason));
      }
      if (row.endedAt !== null) return err({ ...(failure ?? refusal('io_failed', reason)), journaled: true });
      const report = await recoverTransaction(this.#deps, row, this.#plan.settle, { recovered: false, reason });
      if (report.outcome === 'aborted') return err({ ...(failure ?? refusal('io_failed', reason)), journaled: true });
      return ok(appliedFrom(journal.get(record.id), report.kept));
    } catch (cause) {
      const second = expectedFailure(cause);
      if (second === null) throw cause;
      const message = `${reason}; it could not be taken back or finished: ${second.message}`;
      return err({ ...refusal('needs_recovery', message), journaled: true });
    }
  }

  async #releaseRef(): Promise<void> {
    const lock = this.#refLock;
    this.#refLock = null;
    await lock?.abort();
  }

  #own(): Workspace {
    if (this.#workspace === null) throw new Error('there is no work tree, so there are no files');
    return this.#workspace;
  }
}

function appliedFrom(record: TransactionRecord | null, kept: readonly string[]): Applied {
  if (record === null) throw new Error('a closed transaction is in the journal');
  const { newCommit, oldCommit, files } = readJournal(record);
  return { record, newCommit, oldCommit, paths: files === null ? [] : files.paths.map((entry) => entry.path), kept };
}

function must<T>(result: Result<T, { readonly message: string }>): T {
  if (!result.ok) throw new JournalFailure(result.error.message);
  return result.value;
}

function problemOf(result: Result<unknown, TransactionRefusal>): string | null {
  return result.ok ? null : `${result.error.code}: ${result.error.message}`;
}

function isFileMode(mode: string | null): boolean {
  return mode === null || mode === '100644' || mode === '100755';
}

/** What the world may do to us at any step, as a refusal; null for a bug. */
export function expectedFailure(cause: unknown): TransactionRefusal | null {
  if (cause instanceof TargetGitError) return refusal(cause.cancelled ? 'cancelled' : 'git_failed', cause.message);
  if (cause instanceof JournalFailure) return refusal('journal_failed', cause.message);
  if (cause instanceof RecoveryBlocked) return refusal('git_busy', cause.message);
  if (cause instanceof Error && 'syscall' in cause && 'code' in cause) return refusal('io_failed', cause.message);
  return null;
}
