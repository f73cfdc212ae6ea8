import type { NewTask } from '../api.ts';
import { type EngineError, engineError } from '../domain/errors.ts';
import type { AgentId, RunId, TaskId } from '../domain/ids.ts';
import { normalizePath } from '../domain/path.ts';
import type { Principal } from '../domain/principal.ts';
import type { Role, RunRecord, TaskRecord } from '../domain/records.ts';
import { err, ok, type Result } from '../domain/result.ts';
import { compileScope, isGlob } from '../domain/scope.ts';
import { findCycle } from '../domain/task-graph.ts';
import type { WriteScope } from '../ports/store.ts';
import { insertRun, resolveTarget } from './create-run.ts';
import { type DecisionDeps, decide, fromRepository, orRefuse, refuse } from './deps.ts';
import { move } from './moves.ts';

export interface TaskDraft extends NewTask {
  /** Name by which other drafts of the same call may depend on this one, e.g. the file's stem; null for none. */
  readonly key: string | null;
}

/** Bounds of one task, stated here and nowhere else. */
export const TASK_LIMITS = {
  titleLength: 200,
  bodyBytes: 256 * 1024,
  paths: 200,
  dependencies: 100,
  perCall: 500,
} as const;

/** Adds tasks to a run, all or none; the scope must name something that is in the target's present commit. */
export async function addTasks(
  deps: DecisionDeps,
  input: { readonly runId: string | null; readonly drafts: readonly TaskDraft[] },
  by: Principal,
  signal: AbortSignal,
): Promise<Result<{ readonly runId: RunId; readonly taskIds: readonly TaskId[] }, EngineError>> {
  if (input.drafts.length === 0) return err(engineError('invalid_argument', 'no task was given', 'give at least one'));
  if (input.drafts.length > TASK_LIMITS.perCall) {
    return err(
      engineError(
        'invalid_argument',
        `${input.drafts.length} tasks in one call`,
        `give at most ${TASK_LIMITS.perCall}`,
      ),
    );
  }
  const settings = deps.settings.current();
  const run = deps.store.read((rows) =>
    input.runId === null ? rows.runs.live().find(joinable) : rows.runs.get(input.runId as RunId),
  );
  if (input.runId !== null && !run)
    return err(engineError('not_found', `there is no run ${input.runId}`, 'see `roundtable runs list`'));
  const targetRef = run?.targetRef ?? null;
  const target = targetRef === null ? await resolveTarget(deps, null, signal) : ok(targetRef);
  if (!target.ok) return target;
  const commit = await deps.git.resolve(target.value, signal);
  if (!commit.ok) return err(fromRepository(commit.error));
  if (commit.value === null)
    return err(engineError('no_commit', `${target.value} has no commit`, 'make a commit, or choose another target'));
  const listed = await deps.git.listPaths(commit.value, signal);
  if (!listed.ok) return err(fromRepository(listed.error));

  const checked: CheckedDraft[] = [];
  for (const draft of input.drafts) {
    const scoped = {
      ...draft,
      readablePaths: draft.readablePaths ?? settings.defaultReadable,
      writablePaths: draft.writablePaths ?? (run && run.scope.length > 0 ? run.scope : settings.defaultWritable),
    };
    const problem = checkDraft(scoped, listed.value, deps, settings.agents);
    if (problem) return err(problem);
    checked.push(scoped);
  }
  return decide(deps.store, (scope) => {
    // A run that was found and has come to its end meanwhile is not joined, unless it was asked for by its id.
    const found = run && scope.runs.get(run.id);
    const joins = found && (input.runId !== null || joinable(found));
    const owner = joins
      ? orRefuse(reopened(deps, scope, found.id, by))
      : newRunFor(deps, scope, checked, target.value, by);
    const ids = insertDrafts(deps, scope, owner, checked, by);
    return { runId: owner.id, taskIds: ids };
  });
}

/** New tasks without a run of their own join one that still takes work. */
function joinable(run: RunRecord): boolean {
  return run.status === 'active' || run.status === 'paused' || run.status === 'blocked';
}

interface CheckedDraft extends TaskDraft {
  readonly readablePaths: readonly string[];
  readonly writablePaths: readonly string[];
}

function checkDraft(
  draft: CheckedDraft,
  paths: readonly string[],
  deps: DecisionDeps,
  agents: readonly { readonly id: string; readonly role: Role }[],
): EngineError | null {
  const title = draft.title.trim();
  if (title === '')
    return engineError('invalid_argument', 'a task needs a title', 'say in one line what should change');
  if (title.length > TASK_LIMITS.titleLength) {
    return engineError(
      'invalid_argument',
      `the title has ${title.length} characters`,
      `use at most ${TASK_LIMITS.titleLength}; details go into the body`,
    );
  }
  if (new TextEncoder().encode(draft.body).length > TASK_LIMITS.bodyBytes) {
    return engineError('invalid_argument', 'the body is too long', `use at most ${TASK_LIMITS.bodyBytes} bytes`);
  }
  for (const list of [draft.readablePaths, draft.writablePaths]) {
    if (list.length > TASK_LIMITS.paths)
      return engineError('invalid_argument', `${list.length} paths in one scope`, `use at most ${TASK_LIMITS.paths}`);
    for (const entry of list) {
      const problem = checkEntry(entry, deps.globProblem);
      if (problem) return problem;
    }
  }
  if (draft.writablePaths.length === 0) {
    return engineError(
      'scope_empty',
      `task "${title}" may write nothing`,
      'name the files or directories that it may change with --write',
    );
  }
  const inScope = compileScope([...draft.readablePaths, ...draft.writablePaths], deps.matches);
  if (!paths.some(inScope)) {
    return engineError(
      'scope_empty',
      `the scope of "${title}" (${[...new Set([...draft.readablePaths, ...draft.writablePaths])].join(', ')}) matches no file of the base`,
      'check the spelling; paths are relative to the top of the repository',
    );
  }
  if (draft.agentId !== null && !agents.some((agent) => agent.id === draft.agentId)) {
    return engineError(
      'invalid_argument',
      `there is no agent ${draft.agentId}`,
      `configured are: ${agents.map((agent) => agent.id).join(', ') || 'none'}`,
    );
  }
  if (draft.agentId === null && agents.length > 0 && !agents.some((agent) => agent.role === draft.role)) {
    return engineError(
      'invalid_argument',
      `no configured agent has the role ${draft.role}`,
      'add one under agents: in .roundtable/config.yaml',
    );
  }
  return null;
}

function checkEntry(entry: string, globProblem: DecisionDeps['globProblem']): EngineError | null {
  if (entry === '.' || entry === './') return null;
  if (isGlob(entry)) {
    const problem = globProblem(entry);
    if (problem !== null)
      return engineError('path_refused', `the pattern ${entry} is refused: ${problem}`, 'write a simpler pattern');
    const escapes = entry.startsWith('/') || entry.split('/').includes('..');
    return escapes
      ? engineError('path_refused', `${entry} leaves the repository`, 'use globs relative to the top of the repository')
      : null;
  }
  const literal = entry.startsWith('./') ? entry.slice(2) : entry;
  const normal = literal.endsWith('/') ? normalizePath('directory', literal) : normalizePath('file', literal);
  if (normal.ok) return null;
  return engineError(
    'path_refused',
    `${JSON.stringify(entry)} is refused: ${normal.error.reason}`,
    'use a path relative to the top of the repository',
  );
}

/** New work for a run that had come to rest makes it active again. */
function reopened(deps: DecisionDeps, scope: WriteScope, runId: RunId, by: Principal): Result<RunRecord, EngineError> {
  const run = scope.runs.get(runId);
  if (!run) return err(engineError('not_found', `there is no run ${runId}`, 'see `roundtable runs list`'));
  if (run.status === 'completed' || run.status === 'failed') {
    return err(
      engineError(
        'illegal_transition',
        `run ${run.id} is ${run.status}`,
        'add the task without --run: it gets a new run',
      ),
    );
  }
  if (run.status === 'blocked')
    return move(scope, 'run', run, deps.clock.now(), { to: 'active', by, reason: 'new task' });
  return ok(run);
}

function newRunFor(
  deps: DecisionDeps,
  scope: WriteScope,
  drafts: readonly CheckedDraft[],
  targetRef: string,
  by: Principal,
): RunRecord {
  const goal = drafts.length === 1 ? (drafts[0]?.title ?? '') : `${drafts.length} tasks`;
  return insertRun(
    deps,
    scope,
    { goal, scope: [], targetRef, approveMode: 'policy', maxIterations: null, timeoutMs: null },
    by,
  );
}

function insertDrafts(
  deps: DecisionDeps,
  scope: WriteScope,
  run: RunRecord,
  drafts: readonly CheckedDraft[],
  by: Principal,
): readonly TaskId[] {
  const now = deps.clock.now();
  const ids = drafts.map(() => scope.nextId('task') as TaskId);
  const byKey = new Map<string, TaskId>();
  for (const [index, draft] of drafts.entries()) {
    const id = ids[index];
    if (draft.key !== null && id !== undefined) byKey.set(draft.key, id);
  }
  const existing = scope.tasks.ofRun(run.id);
  const edges = new Map<string, readonly string[]>();
  for (const task of existing) edges.set(task.id, task.dependsOn);
  const resolved = drafts.map((draft) =>
    draft.dependsOn.map((name) => {
      const id = byKey.get(name) ?? existing.find((task) => task.id === name)?.id;
      if (id !== undefined) return id;
      return refuse(
        engineError(
          'not_found',
          `"${draft.title}" depends on ${name}, which is not a task of run ${run.id}`,
          'name a task id of the run, or a file of the same import',
        ),
      );
    }),
  );
  for (const [index, id] of ids.entries()) edges.set(id, resolved[index] ?? []);
  const cycle = findCycle(edges);
  if (cycle)
    refuse(
      engineError(
        'task_cycle',
        `these tasks depend on each other in a circle: ${cycle.join(' → ')}`,
        'take one of the dependencies out',
      ),
    );
  for (const [index, draft] of drafts.entries()) {
    const id = ids[index];
    if (id === undefined) continue;
    const task: TaskRecord = {
      id,
      runId: run.id,
      title: draft.title.trim(),
      body: draft.body,
      status: by === 'operator' ? 'open' : 'proposed',
      statusReason: null,
      readablePaths: draft.readablePaths,
      writablePaths: draft.writablePaths,
      risk: draft.risk,
      priority: draft.priority,
      role: draft.role,
      agentId: draft.agentId as AgentId | null,
      dependsOn: resolved[index] ?? [],
      expectedTests: draft.expectedTests,
      attempts: 0,
      notBefore: null,
      feedback: null,
      createdBy: by,
      createdAt: now,
      updatedAt: now,
    };
    scope.tasks.insert(task);
    scope.append({
      type: `task.${task.status}`,
      principal: by,
      entity: 'task',
      entityId: id,
      runId: run.id,
      data: { title: task.title, writablePaths: task.writablePaths },
    });
  }
  return ids;
}
