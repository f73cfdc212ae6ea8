import { fromRepository } from '../app/deps.ts';
import { type EngineError, engineError } from '../domain/errors.ts';
import type { SessionRecord } from '../domain/records.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { Room } from '../ports/container-runtime.ts';
import type { ExtractLimits, ExtractReport } from '../ports/exporter.ts';
import type { BuiltRevision, Provisioned } from '../ports/private-repository.ts';
import type { WorkDeps } from './deps.ts';
import { fromRuntime } from './resolve-adapter.ts';

/** Bounds of an export beside `limits.max_file_bytes`. */
const EXPORT_BOUNDS = {
  maxEntries: 100_000,
  maxTotalBytes: 1024 ** 3,
  maxDepth: 128,
  maxHeaderBytes: 64 * 1024,
} as const;

export interface Seeded {
  readonly provisioned: Provisioned;
  /** Symbolic links of the base in the source directory: path → target. */
  readonly links: ReadonlyMap<string, string>;
  readonly inScope: (path: string) => boolean;
  readonly withhold: (path: string) => boolean;
  /** Directory that prepared dependencies are mounted at; never exported. */
  readonly dependencyDir: string | null;
}

/** Takes the workspace out of a paused room, as plain files below `exportDir`; the whole export is refused or used. */
export async function exportWorkspace(
  deps: WorkDeps,
  room: Room,
  seeded: Seeded,
  exportDir: string,
  signal: AbortSignal,
): Promise<Result<ExtractReport, EngineError>> {
  const ignore = await deps.revisions.ignoreMatcher(seeded.provisioned.baseTree, signal);
  if (!ignore.ok) return err(fromRepository(ignore.error));
  try {
    const archive = await room.exportWorkspace(signal);
    if (!archive.ok) return err(fromRuntime(archive.error));
    const extracted = await deps.exporter.extract(archive.value, exportDir, {
      limits: { ...EXPORT_BOUNDS, maxFileBytes: deps.settings.current().maxFileBytes } satisfies ExtractLimits,
      skip: async ({ name, kind }) =>
        isOurs(name, seeded.dependencyDir) || (await ignore.value.isIgnored(name, kind === 'directory')),
      isUnchangedLink: (path, target) => seeded.links.get(path) === target,
      signal,
    });
    if (extracted.ok) return ok(extracted.value);
    const { reason, entry, remedy } = extracted.error;
    return err(
      engineError(
        'revision_refused',
        `the workspace can't be taken over: ${entry === null ? reason : `${entry}: ${reason}`}`,
        remedy,
        { reason, entry },
      ),
    );
  } finally {
    ignore.value.close();
  }
}

/** The change that the exported files are, against the session's base; null when nothing changed. */
export async function buildRevision(
  deps: WorkDeps,
  session: SessionRecord,
  seeded: Seeded,
  exportDir: string,
  report: ExtractReport,
  signal: AbortSignal,
): Promise<Result<BuiltRevision | null, EngineError>> {
  const { maxFileBytes, maxChangedFiles } = deps.settings.current();
  const built = await deps.revisions.revisionFromWorkspace(
    {
      baseCommit: session.baseCommit,
      seeded: seeded.provisioned.seeded,
      inScope: seeded.inScope,
      withhold: seeded.withhold,
      dir: exportDir,
      report,
      limits: { maxFileBytes, maxChangedFiles },
    },
    signal,
  );
  if (built.ok) return ok(built.value);
  if (built.error.code !== 'revision_refused') return err(fromRepository(built.error));
  if (built.error.reason === 'change_empty') return ok(null);
  return err(
    engineError(
      'revision_refused',
      built.error.path === null ? built.error.message : `${built.error.path}: ${built.error.message}`,
      built.error.remedy,
      { reason: built.error.reason, path: built.error.path },
    ),
  );
}

/** `.git` at the root is what the room made for its tools, and dependencies are mounted: neither is the agent's work. */
function isOurs(name: string, dependencyDir: string | null): boolean {
  if (name === '.git' || name.startsWith('.git/')) return true;
  return dependencyDir !== null && (name === dependencyDir || name.startsWith(`${dependencyDir}/`));
}
