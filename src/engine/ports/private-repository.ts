import type { ObjectId } from '../domain/ids.ts';
import type { Result } from '../domain/result.ts';
import type { ExtractReport } from './exporter.ts';

/** Git tree entry modes that a revision may contain on a touched path. Links and gitlinks occur in bases only. */
export type GitMode = '100644' | '100755' | '120000' | '160000' | '040000';

/** One row of the tree diff base..result, without rename detection. Nulls mean "not there". */
export interface TreeChange {
  readonly path: string;
  readonly oldMode: GitMode | null;
  readonly newMode: GitMode | null;
  readonly oldId: ObjectId | null;
  readonly newId: ObjectId | null;
}

export interface RevisionLimits {
  readonly maxFileBytes: number;
  readonly maxChangedFiles: number;
}

/** An immutable, content-addressed change: everything is derived from the two trees, nothing from patch text. */
export interface BuiltRevision {
  readonly baseCommit: ObjectId;
  readonly baseTree: ObjectId;
  readonly resultTree: ObjectId;
  /** SHA-256 (hex) of the canonical `git diff-tree -p --binary --full-index` text of base..result. */
  readonly patchDigest: string;
  readonly changes: readonly TreeChange[];
  readonly additions: number;
  readonly deletions: number;
  /** Touched paths that count as high risk (CI files, .gitattributes, .gitmodules, policy files). */
  readonly highRiskPaths: readonly string[];
  /** How a patch was read; null for a workspace or a graft. */
  readonly via: 'plain' | 'recount' | null;
}

/** Why a change was refused; `reason` is a stable code such as `patch_ambiguous`, `mode_symlink`, `change_empty`, `path_git_dir`. */
export interface RevisionRefusal {
  readonly code: 'revision_refused';
  readonly reason: string;
  readonly path: string | null;
  readonly message: string;
  readonly remedy: string;
}

export interface RepositoryFailure {
  readonly code:
    | 'not_a_repository'
    | 'no_commit'
    | 'base_missing'
    | 'unsupported_repository'
    | 'git_failed'
    | 'git_too_old'
    | 'cancelled';
  readonly message: string;
  readonly remedy: string;
}

/** A path that was put into a source directory. */
export interface SeededEntry {
  readonly path: string;
  readonly mode: GitMode;
  readonly id: ObjectId;
}

export interface ProvisionSpec {
  readonly commit: ObjectId;
  /** Lay out this tree's files instead of the commit's (an earlier revision's result); what counts as seeded stays the commit's. */
  readonly contentTree?: ObjectId;
  /** True for paths in the task's readable or writable scope. */
  readonly inScope: (path: string) => boolean;
  /** True for sensitive paths that are never given to an agent. */
  readonly withhold: (path: string) => boolean;
  /** Empty host directory (0700) to fill; symlinks of the base are made as links and never followed. */
  readonly targetDir: string;
}

export interface Provisioned {
  readonly baseTree: ObjectId;
  readonly seeded: readonly SeededEntry[];
  readonly withheld: readonly string[];
  readonly gitlinks: readonly string[];
  readonly totalBytes: number;
}

export interface WorkspaceSpec {
  readonly baseCommit: ObjectId;
  readonly seeded: readonly SeededEntry[];
  readonly inScope: (path: string) => boolean;
  readonly withhold: (path: string) => boolean;
  /** Directory that the rooted extractor filled, and its report. */
  readonly dir: string;
  readonly report: ExtractReport;
  readonly limits: RevisionLimits;
}

/** One line of a displayed diff. Numbers are 1-based; null where the side has no line. */
export interface DiffLine {
  readonly kind: 'context' | 'added' | 'removed' | 'note';
  readonly text: string;
  readonly oldLine: number | null;
  readonly newLine: number | null;
}

export interface DiffHunk {
  readonly header: string;
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly DiffLine[];
}

export interface DiffFile {
  readonly path: string;
  /** Set when git's rename detection pairs it with a removed file; display only. */
  readonly renamedFrom: string | null;
  readonly status: 'added' | 'modified' | 'deleted' | 'renamed';
  readonly oldMode: GitMode | null;
  readonly newMode: GitMode | null;
  readonly binary: boolean;
  readonly additions: number;
  readonly deletions: number;
  readonly hunks: readonly DiffHunk[];
  /** True when lines were left out because the file's diff passes the display bound. */
  readonly truncated: boolean;
}

/** The project's private bare repository `<state>/objects.git`; git is the only patch parser. */
export interface PrivateRepository {
  /** Creates the repository if needed and makes the commit's objects available in it. Idempotent. */
  ensureBase(commit: ObjectId, signal: AbortSignal): Promise<Result<{ readonly tree: ObjectId }, RepositoryFailure>>;
  provision(spec: ProvisionSpec, signal: AbortSignal): Promise<Result<Provisioned, RepositoryFailure>>;
  /** Writes the whole tree (minus withheld and gitlinks) into an empty directory, for a test run on the result tree. */
  materialise(
    tree: ObjectId,
    withhold: (path: string) => boolean,
    targetDir: string,
    signal: AbortSignal,
  ): Promise<Result<{ readonly withheld: readonly string[] }, RepositoryFailure>>;
  revisionFromWorkspace(
    spec: WorkspaceSpec,
    signal: AbortSignal,
  ): Promise<Result<BuiltRevision, RevisionRefusal | RepositoryFailure>>;
  revisionFromPatch(
    spec: { readonly baseCommit: ObjectId; readonly patch: Uint8Array; readonly limits: RevisionLimits },
    signal: AbortSignal,
  ): Promise<Result<BuiltRevision, RevisionRefusal | RepositoryFailure>>;
  /** The same change on a new base, only if every touched path has the same mode and blob in both bases; null otherwise. */
  graft(
    spec: {
      readonly oldBase: ObjectId;
      readonly resultTree: ObjectId;
      readonly newBase: ObjectId;
      readonly limits: RevisionLimits;
    },
    signal: AbortSignal,
  ): Promise<Result<BuiltRevision | null, RevisionRefusal | RepositoryFailure>>;
  /** Names a revision's result so that gc keeps it: `refs/revisions/<proposal>/<number>`. */
  keep(
    proposalId: string,
    number: number,
    revision: BuiltRevision,
    signal: AbortSignal,
  ): Promise<Result<void, RepositoryFailure>>;
  /** Diff for people, from the trees. Bounded: maxLines per file. */
  diff(
    oldTree: ObjectId,
    newTree: ObjectId,
    options: { readonly contextLines: number; readonly maxLinesPerFile: number; readonly detectRenames: boolean },
    signal: AbortSignal,
  ): Promise<Result<readonly DiffFile[], RepositoryFailure>>;
  /** Text of one file in a tree-ish, or null when it isn't there. */
  readFile(
    treeish: ObjectId,
    path: string,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<Result<Uint8Array | null, RepositoryFailure>>;
  /** Ids of the named paths in a tree, for keys such as "the lock files of this base". */
  entryIds(
    treeish: ObjectId,
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<Result<ReadonlyMap<string, ObjectId>, RepositoryFailure>>;
  /** Predicate for the exporter: true for what the base tree's ignore rules exclude. Close it when done. */
  ignoreMatcher(
    tree: ObjectId,
    signal: AbortSignal,
  ): Promise<
    Result<{ isIgnored(path: string, isDirectory: boolean): Promise<boolean>; close(): void }, RepositoryFailure>
  >;
}
