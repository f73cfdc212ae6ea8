import type { Gate } from '../domain/gate.ts';
import { type BaseState, computeGates } from '../domain/gates.ts';
import type { GlobMatcher } from '../domain/glob.ts';
import type { ProposalRecord, RevisionRecord, TaskRecord } from '../domain/records.ts';
import { compileScope } from '../domain/scope.ts';
import type { Settings } from '../ports/settings.ts';
import type { Repositories } from '../ports/store.ts';

export interface Evaluated {
  readonly revision: RevisionRecord;
  readonly gates: readonly Gate[];
  readonly requiredTests: readonly (readonly string[])[];
  /** Image that tests run in; null when none is configured. */
  readonly testImage: string | null;
}

/** Gates of a proposal's current revision from one consistent reading; null only when its rows are gone. */
export function evaluateGates(
  rows: Repositories,
  settings: Settings,
  matches: GlobMatcher,
  proposal: ProposalRecord,
  base: BaseState,
): Evaluated | null {
  const revision = rows.proposals.revision(proposal.id, proposal.currentRevision);
  const task = rows.tasks.get(proposal.taskId);
  const run = rows.runs.get(proposal.runId);
  if (!revision || !task || !run) return null;
  const requiredTests = requiredCommands(settings, matches, task, revision);
  const testImage = settings.tests.image ?? authorImage(rows, settings, proposal);
  const gates = computeGates({
    revision,
    base,
    inWritableScope: compileScope(task.writablePaths, matches),
    writablePaths: task.writablePaths,
    requiredTests,
    testImage,
    testRuns: rows.testRuns.ofRevision(proposal.id, revision.number),
    approvals: rows.approvals.ofRevision(proposal.id, revision.number),
    approveMode: run.approveMode,
  });
  return { revision, gates, requiredTests, testImage };
}

/** `tests.required`, the suites whose globs a touched path matches, and the task's own, each command once. */
function requiredCommands(
  settings: Settings,
  matches: GlobMatcher,
  task: TaskRecord,
  revision: RevisionRecord,
): readonly (readonly string[])[] {
  const suites = settings.tests.suites.filter((suite) => {
    const covers = compileScope(suite.paths, matches);
    return revision.changes.some((change) => covers(change.path));
  });
  const all = [...settings.tests.required, ...suites.flatMap((suite) => suite.commands), ...task.expectedTests];
  return [...new Map(all.map((argv) => [JSON.stringify(argv), argv])).values()];
}

/** Tests run by default in the image that the author worked in. */
function authorImage(rows: Repositories, settings: Settings, proposal: ProposalRecord): string | null {
  const session = rows.sessions.get(proposal.sessionId);
  return session === null ? null : (settings.adapters.get(session.adapter)?.image ?? session.imageDigest);
}
