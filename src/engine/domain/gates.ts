import type { Gate } from './gate.ts';
import type { ApprovalRecord, ApproveMode, RevisionRecord, TestRunRecord } from './records.ts';

/** How the revision's base stands to the target's present commit. */
export type BaseState =
  | { readonly kind: 'fresh' }
  /** The target moved, and every touched path is the same there: the change can be grafted. */
  | { readonly kind: 'graftable'; readonly targetCommit: string }
  | { readonly kind: 'moved'; readonly targetCommit: string; readonly paths: readonly string[] }
  | { readonly kind: 'unknown'; readonly reason: string };

export interface GateInput {
  readonly revision: RevisionRecord;
  readonly base: BaseState;
  readonly inWritableScope: (path: string) => boolean;
  readonly writablePaths: readonly string[];
  /** Commands that must pass, in order; without duplicates. */
  readonly requiredTests: readonly (readonly string[])[];
  /** Image that tests run in; null when none is configured. */
  readonly testImage: string | null;
  readonly testRuns: readonly TestRunRecord[];
  readonly approvals: readonly ApprovalRecord[];
  readonly approveMode: ApproveMode;
}

/**
 * All gates of one revision in their fixed order (this version has base, scope, tests and human). The
 * one function behind validate, apply, the screen and `--json`.
 */
export function computeGates(input: GateInput): readonly Gate[] {
  return [baseGate(input), scopeGate(input), testsGate(input), humanGate(input)];
}

export function allPassed(gates: readonly Gate[]): boolean {
  return gates.every((gate) => gate.status === 'passed' || gate.status === 'overridden');
}

/**
 * True when a machine could still change a gate by itself, so that nobody needs to be asked yet. A gate that has failed
 * settles the matter: what is still pending beside it isn't run.
 */
export function machinePending(gates: readonly Gate[]): boolean {
  if (gates.some((gate) => gate.status === 'failed')) return false;
  return gates.some((gate) => gate.status === 'pending' && gate.id !== 'human');
}

function baseGate({ base, revision }: GateInput): Gate {
  switch (base.kind) {
    case 'fresh':
      return passed('base', `made on ${short(revision.baseCommit)}, where the target still is`);
    case 'graftable':
      return passed(
        'base',
        `the target moved to ${short(base.targetCommit)}; every touched path is the same there, so the change is grafted`,
      );
    case 'moved':
      return {
        id: 'base',
        status: 'failed',
        detail: `the target moved to ${short(base.targetCommit)}, and these touched paths changed there: ${listed(base.paths)}`,
        remedy: 'request changes: the next session starts from the new base',
      };
    case 'unknown':
      return { id: 'base', status: 'pending', detail: base.reason, remedy: 'wait, or look at the target ref' };
  }
}

function scopeGate({ revision, inWritableScope, writablePaths }: GateInput): Gate {
  const outside = revision.changes.map((change) => change.path).filter((path) => !inWritableScope(path));
  if (outside.length === 0)
    return passed('scope', `${count(revision.changes.length, 'path')}, all within ${listed(writablePaths)}`);
  return {
    id: 'scope',
    status: 'failed',
    detail: `outside the task's writable paths: ${listed(outside)}`,
    remedy: `request changes that stay within ${listed(writablePaths)}, or reject it and add a task with a wider scope`,
  };
}

function testsGate({ revision, requiredTests, testImage, testRuns, inWritableScope }: GateInput): Gate {
  if (!revision.policy.testsRequired) return passed('tests', 'the policy asks for none');
  if (requiredTests.length === 0) {
    return {
      id: 'tests',
      status: 'failed',
      detail: 'the policy asks for tests and none is configured',
      remedy: 'set tests.required in .roundtable/config.yaml, or tests_required: false in POLICIES.ROUNDTABLE.md',
    };
  }
  if (testImage === null) {
    return {
      id: 'tests',
      status: 'failed',
      detail: 'no image to run the tests in',
      remedy: 'set tests.image, or build the image of the adapter with `roundtable image build`',
    };
  }
  const evidence = requiredTests.map((argv) => latestRun(testRuns, argv, revision.resultTree, testImage));
  const failedAt = evidence.findIndex((run) => run !== null && run.status !== 'passed' && run.status !== 'running');
  if (failedAt >= 0) {
    const run = evidence[failedAt];
    return {
      id: 'tests',
      status: 'failed',
      detail: `${commandText(requiredTests[failedAt] ?? [])}: ${run?.status ?? 'failed'}${exitText(run ?? null)}`,
      remedy: `read the log (\`roundtable proposals show ${revision.proposalId} --log\`), then request changes or run the tests again`,
    };
  }
  const done = evidence.filter((run) => run?.status === 'passed').length;
  if (done < requiredTests.length) {
    return {
      id: 'tests',
      status: 'pending',
      detail: `${done} of ${requiredTests.length} passed on this result tree`,
      remedy: revision.changes.every((change) => inWritableScope(change.path))
        ? 'they run by themselves while an engine runs; `roundtable proposals test` runs them now'
        : 'not run while the scope gate fails; `roundtable proposals test` runs them all the same',
    };
  }
  return passed('tests', `${count(done, 'command')} passed on tree ${short(revision.resultTree)}`);
}

function humanGate({ revision, approvals, approveMode }: GateInput): Gate {
  if (approveMode === 'never') {
    return {
      id: 'human',
      status: 'pending',
      detail: 'this run applies nothing by itself (--approve never)',
      remedy: 'resume the run with --approve policy, or approve in a run of your own',
    };
  }
  const approval = approvals.find((row) => row.principal === 'operator' && row.revision === revision.number);
  if (approval) {
    const carried = approval.carriedFrom === null ? '' : `, carried over from revision ${approval.carriedFrom}`;
    return passed('human', `approved by the operator at ${approval.at} (${approval.origin}${carried})`);
  }
  if (!revision.policy.humanApprovalRequired && approveMode === 'policy')
    return passed('human', 'the policy asks for no approval');
  return {
    id: 'human',
    status: 'pending',
    detail: 'waits for the operator',
    remedy: `approve it on the screen, or with \`roundtable proposals approve ${revision.proposalId}\``,
  };
}

function latestRun(
  runs: readonly TestRunRecord[],
  argv: readonly string[],
  tree: string,
  image: string,
): TestRunRecord | null {
  const key = JSON.stringify(argv);
  const matching = runs.filter(
    (run) =>
      run.resultTree === tree &&
      run.imageDigest === image &&
      run.status !== 'cancelled' &&
      JSON.stringify(run.argv) === key,
  );
  return matching.at(-1) ?? null;
}

function passed(id: Gate['id'], detail: string): Gate {
  return { id, status: 'passed', detail, remedy: '' };
}

function exitText(run: TestRunRecord | null): string {
  if (!run) return '';
  if (run.exitCode !== null) return ` with exit code ${run.exitCode}`;
  return run.detail === null ? '' : ` (${run.detail})`;
}

export function commandText(argv: readonly string[]): string {
  return argv.map((part) => (/^[A-Za-z0-9_./:=@%+-]+$/.test(part) ? part : JSON.stringify(part))).join(' ');
}

function listed(items: readonly string[]): string {
  const shown = items.slice(0, 5).join(', ');
  return items.length > 5 ? `${shown} and ${items.length - 5} more` : shown;
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

function short(id: string): string {
  return id.slice(0, 10);
}
