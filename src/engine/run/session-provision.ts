import { fromRepository, record } from '../app/deps.ts';
import { type EngineError, engineError } from '../domain/errors.ts';
import type { ObjectId } from '../domain/ids.ts';
import type { ProposalRecord } from '../domain/records.ts';
import { err, ok, type Result } from '../domain/result.ts';
import { compileScope } from '../domain/scope.ts';
import type { Dependencies } from './dependencies.ts';
import type { WorkDeps } from './deps.ts';
import type { SessionJob } from './session-job.ts';
import type { Seeded } from './session-workspace.ts';
import { isWithheldIn } from './withhold-scope.ts';

export interface SeededRoom extends Seeded {
  readonly continuesRevision: number | null;
  readonly dependencies: { readonly volume: string; readonly dir: string } | null;
}

/** Lays the task's files of the pinned base out for one session, with the prepared dependencies; an empty scope is refused. */
export async function provisionSession(
  deps: WorkDeps,
  dependencies: Dependencies,
  { session, task, ready, continues, stop }: SessionJob,
  targetDir: string,
): Promise<Result<SeededRoom, EngineError>> {
  const base = await deps.revisions.ensureBase(session.baseCommit, stop);
  if (!base.ok) return err(fromRepository(base.error));
  const inScope = compileScope([...task.readablePaths, ...task.writablePaths], deps.matches);
  const withhold = isWithheldIn(deps);
  const earlier = continues === null ? null : await earlierWork(deps, continues, session.baseCommit, stop);
  const provisioned = await deps.revisions.provision(
    { commit: session.baseCommit, inScope, withhold, targetDir, ...(earlier ? { contentTree: earlier } : {}) },
    stop,
  );
  if (!provisioned.ok) return err(fromRepository(provisioned.error));
  if (provisioned.value.seeded.length === 0) {
    return err(
      engineError(
        'scope_empty',
        `the scope of ${task.id} matches nothing in ${session.baseCommit.slice(0, 10)}`,
        'cancel the task and add it with paths that exist',
      ),
    );
  }
  await deps.files.makeReadable(targetDir);
  const prepared = await dependencies.ensure(session.runId, session.baseCommit, ready.image, stop);
  if (!prepared.ok) return prepared;
  await record(deps.store, (scope) => {
    const row = scope.sessions.get(session.id);
    if (row) scope.sessions.update({ ...row, withheld: provisioned.value.withheld });
  });
  const links = await deps.files.linkTargets(
    targetDir,
    provisioned.value.seeded.filter((entry) => entry.mode === '120000').map((entry) => entry.path),
  );
  return ok({
    continuesRevision: earlier === null ? null : (continues?.currentRevision ?? null),
    provisioned: provisioned.value,
    links,
    inScope,
    withhold,
    dependencyDir: prepared.value?.dir ?? null,
    dependencies: prepared.value,
  });
}

/** The tree that a revision request goes on from: the earlier result, on the present base if it still fits there. */
async function earlierWork(
  deps: WorkDeps,
  proposal: ProposalRecord,
  base: ObjectId,
  signal: AbortSignal,
): Promise<ObjectId | null> {
  const revision = deps.store.read((rows) => rows.proposals.revision(proposal.id, proposal.currentRevision));
  if (!revision) return null;
  if (revision.baseCommit === base) return revision.resultTree;
  const { maxFileBytes, maxChangedFiles } = deps.settings.current();
  const graft = await deps.revisions.graft(
    {
      oldBase: revision.baseCommit,
      resultTree: revision.resultTree,
      newBase: base,
      limits: { maxFileBytes, maxChangedFiles },
    },
    signal,
  );
  return graft.ok && graft.value !== null ? graft.value.resultTree : null;
}
