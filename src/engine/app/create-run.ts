import { type EngineError, engineError } from '../domain/errors.ts';
import type { RunId } from '../domain/ids.ts';
import type { Principal } from '../domain/principal.ts';
import type { ApproveMode, RunRecord } from '../domain/records.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { WriteScope } from '../ports/store.ts';
import { type DecisionDeps, decide, fromRepository } from './deps.ts';

export interface NewRun {
  readonly goal: string;
  readonly scope: readonly string[];
  readonly targetRef: string | null;
  readonly approveMode: ApproveMode;
  readonly maxIterations: number | null;
  readonly timeoutMs: number | null;
}

/** Makes a run that lands on the named ref, or on the branch that is checked out now. */
export async function createRun(
  deps: DecisionDeps,
  input: NewRun,
  by: Principal,
  signal: AbortSignal,
): Promise<Result<{ readonly runId: RunId }, EngineError>> {
  const target = await resolveTarget(deps, input.targetRef, signal);
  if (!target.ok) return target;
  return decide(deps.store, (scope) => ({
    runId: insertRun(deps, scope, { ...input, targetRef: target.value }, by).id,
  }));
}

/** The full ref name that a run lands on; the ref must have a commit. */
export async function resolveTarget(
  deps: DecisionDeps,
  wanted: string | null,
  signal: AbortSignal,
): Promise<Result<string, EngineError>> {
  if (wanted === null) {
    const head = await deps.git.head(signal);
    if (!head.ok) return err(fromRepository(head.error));
    if (head.value.commit === null) return err(noCommit());
    return ok(head.value.ref);
  }
  const ref = await deps.git.expandRef(wanted, signal);
  if (!ref.ok) return err(fromRepository(ref.error));
  if (ref.value === null) {
    return err(
      engineError(
        'invalid_argument',
        `there is no branch ${wanted}`,
        'name an existing branch, or make it with `git branch`',
      ),
    );
  }
  const commit = await deps.git.resolve(ref.value, signal);
  if (!commit.ok) return err(fromRepository(commit.error));
  return commit.value === null ? err(noCommit()) : ok(ref.value);
}

/** For callers that already are inside a write. */
export function insertRun(
  deps: DecisionDeps,
  scope: WriteScope,
  input: NewRun & { readonly targetRef: string },
  by: Principal,
): RunRecord {
  const now = deps.clock.now();
  const timeoutMs = input.timeoutMs ?? deps.settings.current().runTimeoutMs;
  const run: RunRecord = {
    id: scope.nextId('run') as RunId,
    goal: input.goal,
    status: 'active',
    statusReason: null,
    scope: input.scope,
    targetRef: input.targetRef,
    approveMode: input.approveMode,
    maxIterations: input.maxIterations,
    iterations: 0,
    deadlineAt: timeoutMs === null ? null : new Date(deps.clock.nowMs() + timeoutMs).toISOString(),
    createdAt: now,
    updatedAt: now,
  };
  scope.runs.insert(run);
  scope.append({
    type: 'run.active',
    principal: by,
    entity: 'run',
    entityId: run.id,
    runId: run.id,
    data: { goal: run.goal, targetRef: run.targetRef, approveMode: run.approveMode },
  });
  return run;
}

function noCommit(): EngineError {
  return engineError('no_commit', 'the repository has no commit yet', 'make a first commit: agents work from a commit');
}
