import { decide, fromRepository } from '../app/deps.ts';
import { type EngineError, engineError } from '../domain/errors.ts';
import type { ProposalId, TestRunId } from '../domain/ids.ts';
import type { ProposalRecord, RevisionRecord, TestRunRecord } from '../domain/records.ts';
import { err, ok, type Result } from '../domain/result.ts';
import { ROOM_PATHS } from '../ports/container-runtime.ts';
import type { Dependencies } from './dependencies.ts';
import type { WorkDeps } from './deps.ts';
import { resolveImage } from './resolve-adapter.ts';
import { COMMAND_ENV, roomLabels, roomSpec } from './room-request.ts';
import { type RoomEnd, runInRoom } from './run-in-room.ts';
import { isWithheldIn } from './withhold-scope.ts';

export interface TestJob {
  readonly proposal: ProposalRecord;
  readonly revision: RevisionRecord;
  readonly argv: readonly string[];
  /** Pinned reference of the image. */
  readonly image: string;
  readonly stop: AbortSignal;
}

/**
 * One required command on a revision's result tree, in a fresh sealed room, with the prepared dependencies. The row says
 * what it was run on (tree, image) and how it ended; its output is kept.
 */
export async function runTest(
  deps: WorkDeps,
  dependencies: Dependencies,
  job: TestJob,
): Promise<Result<TestRunRecord, EngineError>> {
  const begun = await begin(deps, job);
  if (!begun.ok) return begun;
  const id = begun.value.id;
  try {
    const ended = await execute(deps, dependencies, job, id).catch((bug: unknown): Result<RoomEnd, EngineError> => {
      // The row must get an end all the same: one that says `running` would stay so until the next start.
      if (!job.stop.aborted)
        deps.warn(`test ${id} broke: ${bug instanceof Error ? (bug.stack ?? bug.message) : String(bug)}`);
      const said = bug instanceof Error ? bug.message : String(bug);
      return err(engineError('container_failed', `an internal error ended the test: ${said}`, 'run it again'));
    });
    return await finish(deps, begun.value, verdict(deps, ended, job));
  } finally {
    await deps.files.removeRoot(id, { keepExport: false });
  }
}

async function execute(
  deps: WorkDeps,
  dependencies: Dependencies,
  job: TestJob,
  id: TestRunId,
): Promise<Result<RoomEnd, EngineError>> {
  const { proposal, revision, argv, stop } = job;
  const [command, ...args] = argv;
  if (command === undefined)
    return err(
      engineError('config_invalid', 'a test command is empty', 'give it at least one element in tests.required'),
    );
  const image = await resolveImage(deps, job.image, 'tests', stop);
  if (!image.ok) return image;
  const root = await deps.files.prepareRoot(id);
  const laid = await deps.revisions.materialise(revision.resultTree, isWithheldIn(deps), root.source, stop);
  if (!laid.ok) return err(fromRepository(laid.error));
  await deps.files.makeReadable(root.source);
  const prepared = await dependencies.ensure(proposal.runId, revision.baseCommit, image.value, stop);
  if (!prepared.ok) return prepared;
  const settings = deps.settings.current();
  return runInRoom(
    deps,
    {
      ownerId: id,
      spec: roomSpec(deps, {
        labels: roomLabels(deps, 'test', proposal.runId, id),
        image: image.value,
        sourceDir: root.source,
        dependencies: prepared.value === null ? null : { ...prepared.value, writable: false },
      }),
      files: {},
      exec: { argv: [command, ...args], env: COMMAND_ENV, cwd: ROOM_PATHS.workspace, stdin: null },
      wallMs: settings.tests.timeoutMs,
      idleMs: settings.tests.timeoutMs,
      outputBytes: settings.outputBytes,
      stop,
      started: async () => undefined,
      sign: () => undefined,
    },
    async (_room, end) => end,
  );
}

async function begin(
  deps: WorkDeps,
  { proposal, revision, argv, image }: TestJob,
): Promise<Result<TestRunRecord, EngineError>> {
  return decide(deps.store, (scope) => {
    const row: TestRunRecord = {
      id: scope.nextId('testRun') as TestRunId,
      proposalId: proposal.id,
      revision: revision.number,
      argv,
      resultTree: revision.resultTree,
      imageDigest: image,
      status: 'running',
      exitCode: null,
      detail: null,
      logFile: null,
      logTruncated: false,
      startedAt: deps.clock.now(),
      endedAt: null,
    };
    scope.testRuns.insert(row);
    scope.append({
      type: 'test.running',
      principal: 'system',
      entity: 'test',
      entityId: row.id,
      runId: proposal.runId,
      data: { proposalId: proposal.id, revision: revision.number, argv, resultTree: revision.resultTree },
    });
    return row;
  });
}

type Verdict = Pick<TestRunRecord, 'status' | 'exitCode' | 'detail' | 'logTruncated'>;

function verdict(deps: WorkDeps, ended: Result<RoomEnd, EngineError>, { stop }: TestJob): Verdict {
  if (stop.aborted) return { status: 'cancelled', exitCode: null, detail: 'cancelled', logTruncated: false };
  if (!ended.ok)
    return {
      status: 'error',
      exitCode: null,
      detail: `${ended.error.message}; ${ended.error.remedy}`,
      logTruncated: false,
    };
  const end = ended.value;
  const logTruncated = end.stdout.truncated || end.stderr.truncated;
  const memory = end.oomKilled ? 'ran out of memory' : null;
  switch (end.how) {
    case 'exited':
      return { status: end.exitCode === 0 ? 'passed' : 'failed', exitCode: end.exitCode, detail: memory, logTruncated };
    case 'wall_clock':
    case 'idle':
      return {
        status: 'failed',
        exitCode: null,
        detail: `not finished within the ${deps.settings.current().tests.timeoutMs / 1000} s of tests.timeout_seconds`,
        logTruncated,
      };
    case 'stopped':
      return { status: 'cancelled', exitCode: null, detail: 'cancelled', logTruncated };
    case 'room_lost':
      return { status: 'error', exitCode: null, detail: 'the container was lost', logTruncated };
    default: {
      const never: never = end.how;
      throw new Error(`unknown end ${String(never)}`);
    }
  }
}

async function finish(deps: WorkDeps, row: TestRunRecord, how: Verdict): Promise<Result<TestRunRecord, EngineError>> {
  const done: TestRunRecord = { ...row, ...how, logFile: row.id, endedAt: deps.clock.now() };
  const written = await decide(deps.store, (scope) => {
    scope.testRuns.update(done);
    const runId = scope.proposals.get(row.proposalId as ProposalId)?.runId ?? null;
    scope.append({
      type: `test.${done.status}`,
      principal: 'system',
      entity: 'test',
      entityId: row.id,
      runId,
      data: {
        proposalId: row.proposalId,
        revision: row.revision,
        argv: row.argv,
        exitCode: done.exitCode,
        ...(done.detail === null ? {} : { detail: done.detail }),
      },
    });
    return done;
  });
  return written.ok ? ok(written.value) : written;
}
