import type { ObjectId } from '../domain/ids.ts';
import type { Blob } from '../domain/path-verification.ts';
import type { Result } from '../domain/result.ts';
import type { TreeChange } from './private-repository.ts';

/** The work tree (and its index) in which the target is checked out. */
export interface WorkTree {
  readonly root: string;
  /** Its own git directory: HEAD and index live here. */
  readonly gitDir: string;
  /** The same relative to the common directory, '' for the main work tree; survives a move of the repository. */
  readonly name: string;
  /** False when core.fileMode=false. */
  readonly trustExecutable: boolean;
  readonly sparse: boolean;
}

export interface TargetPlace {
  readonly commonDir: string;
  /** Full reference, or `HEAD` for a detached one. */
  readonly ref: string;
  /** Git directory from whose point of view the reference is updated. */
  readonly gitDir: string;
  /** Null when the target is checked out nowhere: then only the reference moves. */
  readonly worktree: WorkTree | null;
}

export interface TargetFailure {
  readonly code:
    | 'target_missing'
    | 'target_unborn'
    | 'head_moved'
    | 'worktree_missing'
    | 'operation_in_progress'
    | 'git_busy'
    | 'base_moved'
    | 'no_identity'
    | 'signing_failed'
    | 'objects_missing'
    | 'checkout_failed'
    | 'git_failed'
    | 'cancelled';
  readonly message: string;
}

/** A reference that is locked and prepared; it is released when this process dies. */
export interface RefLock {
  /** The lock's process as `Fs.processIdentity` names it. */
  readonly process: string;
  /** The only commit point. False: it did not happen as far as we know, and the reference must be read to be sure. */
  commit(): Promise<boolean>;
  abort(): Promise<void>;
}

export interface RefLockSpec {
  /** Null: the reference must not exist. */
  readonly old: ObjectId | null;
  /** Null: only held, never moved. */
  readonly new: ObjectId | null;
  readonly reflogMessage: string;
  /** Told the identity of the process that is about to take the lock, before it does. */
  readonly announced: (process: number) => Promise<void>;
}

export interface IndexUpdate {
  readonly path: string;
  /** Null removes the entry. */
  readonly entry: Blob | null;
}

export interface CommitSpec {
  readonly tree: ObjectId;
  readonly parent: ObjectId;
  /** Complete, with its trailers. */
  readonly message: string;
}

export interface StageSpec {
  readonly tree: ObjectId;
  /** Paths of the tree to write. */
  readonly paths: readonly string[];
  /** Existing, empty directory that becomes the staging work tree. */
  readonly dir: string;
  /** Private index; `filters` fills it with the tree. */
  readonly scratchIndex: string;
}

/** Git ended in a way that no result foresees. */
export class TargetGitError extends Error {
  override readonly name = 'TargetGitError';
  constructor(
    readonly args: readonly string[],
    readonly stderr: string,
    readonly cancelled: boolean,
  ) {
    super(cancelled ? 'git was cancelled' : `git ${args[0] ?? ''} failed: ${firstLines(stderr)}`);
  }
}

function firstLines(text: string): string {
  return text.trim().split('\n').slice(0, 3).join(' · ').slice(0, 400);
}

/**
 * The user's repository as the transaction manager uses it. No hook runs, no file monitor is asked. A failure that is
 * not in a method's result throws.
 */
export interface TargetRepository {
  locate(ref: string, signal: AbortSignal): Promise<Result<TargetPlace, TargetFailure>>;
  /** The place as a journal named it, or with `worktree: null` when that work tree is gone. */
  relocate(ref: string, worktreeName: string | null, signal: AbortSignal): Promise<TargetPlace>;
  /** Every git directory and work tree of the repository, for finding what was left behind. */
  places(signal: AbortSignal): Promise<readonly { readonly gitDir: string; readonly root: string | null }[]>;

  resolve(place: TargetPlace, ref: string, signal: AbortSignal): Promise<ObjectId | null>;
  /** What HEAD of the place's work tree names, or null when it is detached. */
  headTarget(place: TargetPlace, signal: AbortSignal): Promise<string | null>;
  reachable(place: TargetPlace, commit: ObjectId, ref: string, signal: AbortSignal): Promise<boolean>;
  treeOf(place: TargetPlace, commit: ObjectId, signal: AbortSignal): Promise<ObjectId | null>;
  diff(place: TargetPlace, oldTree: ObjectId, newTree: ObjectId, signal: AbortSignal): Promise<readonly TreeChange[]>;
  /** Ids of the trees below the second root that the first has not at the same place. */
  changedTrees(
    place: TargetPlace,
    oldTree: ObjectId,
    newTree: ObjectId,
    signal: AbortSignal,
  ): Promise<readonly ObjectId[]>;
  /** Entries of the named paths in a commit's tree. */
  entriesOf(
    place: TargetPlace,
    commit: ObjectId,
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Blob>>;
  /** Entries of an index (default: the work tree's own) at the named paths; absent ones are missing in the map. */
  indexEntries(
    place: TargetPlace,
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Blob | 'unmerged'>>;
  /** Paths whose work-tree content git calls modified against the given entries, by reading the content. */
  modified(
    place: TargetPlace,
    entries: readonly IndexUpdate[],
    scratchIndex: string,
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  /**
   * Paths with a `filter` attribute, by the tree's attributes or by those in the work tree now. Fills the scratch index
   * with the tree, which `stage` needs.
   */
  filters(
    place: TargetPlace,
    spec: Pick<StageSpec, 'tree' | 'paths' | 'scratchIndex'>,
    signal: AbortSignal,
  ): Promise<readonly { readonly path: string; readonly filter: string }[]>;
  /** Existing directories whose names must be synced after these objects were written. */
  objectDirectories(place: TargetPlace, ids: readonly ObjectId[]): readonly string[];
  /** The same for the reference, its log and HEAD. */
  refDirectories(place: TargetPlace): readonly string[];
  /** Files in which git holds its locks on the reference and, where that is another file, on HEAD. */
  refLockFiles(place: TargetPlace): { readonly ref: string; readonly head: string | null };

  /** Copies the objects that `newTree` has and `oldTree` has not from another repository; answers those written. */
  importObjects(
    place: TargetPlace,
    spec: { readonly oldTree: ObjectId; readonly newTree: ObjectId; readonly fromGitDir: string },
    signal: AbortSignal,
  ): Promise<Result<readonly ObjectId[], TargetFailure>>;
  createCommit(place: TargetPlace, spec: CommitSpec, signal: AbortSignal): Promise<Result<ObjectId, TargetFailure>>;
  /** A copy of the work tree's index with some entries replaced, as a new file. */
  buildIndex(place: TargetPlace, updates: readonly IndexUpdate[], file: string, signal: AbortSignal): Promise<void>;
  /** Writes the bytes that a checkout of the tree would have at the given paths, `.gitattributes` of the tree first. */
  stage(place: TargetPlace, spec: StageSpec, signal: AbortSignal): Promise<Result<void, TargetFailure>>;
  /** Tree of `commit` with some entries replaced; null when the entries do not fit it (file against directory). */
  writeTree(
    place: TargetPlace,
    commit: ObjectId,
    updates: readonly IndexUpdate[],
    scratchIndex: string,
    signal: AbortSignal,
  ): Promise<ObjectId | null>;
  /** Three-way merge of three blobs into a new one in the object store; null when they conflict or are binary. */
  mergeBlobs(
    place: TargetPlace,
    spec: { readonly base: ObjectId; readonly ours: ObjectId; readonly theirs: ObjectId; readonly scratchDir: string },
    signal: AbortSignal,
  ): Promise<ObjectId | null>;
  lockRef(place: TargetPlace, spec: RefLockSpec, signal: AbortSignal): Promise<Result<RefLock, TargetFailure>>;
  /** Brings the stat data of the index up to date; best effort, changes no content. */
  refreshIndex(place: TargetPlace): Promise<void>;
}
