import type { Application, Engine, EventRecord, ProposalView, Snapshot } from '../../src/engine/api.ts';
import type { CommandResult } from './context.ts';
import { followEvents } from './event-stream.ts';
import { eventText } from './event-text.ts';
import { interruptExit } from './interrupted.ts';
import type { Output } from './output.ts';

export interface RunStream {
  readonly app: Application;
  /** Owned by this process. */
  readonly engine: Engine;
  readonly runId: string;
  /** Events after this id are printed; take it before the run is made. */
  readonly afterEventId: number;
  readonly out: Output;
  /** Fires when the user wants to stop; the run drains and stays resumable. */
  readonly interrupt: AbortSignal;
  /** False: only the summary. */
  readonly events?: boolean;
  readonly onEvent?: (event: EventRecord) => void;
}

/** The last JSON line of a run without a screen. */
export interface RunSummary {
  readonly type: 'summary';
  readonly run: Snapshot['runs'][number];
  readonly tasks: readonly {
    readonly id: string;
    readonly title: string;
    readonly status: string;
    readonly reason: string | null;
  }[];
  readonly proposals: readonly {
    readonly id: string;
    readonly taskId: string;
    readonly title: string;
    readonly status: string;
    readonly reason: string | null;
    readonly revision: number;
    readonly gates: Readonly<Record<string, string>>;
  }[];
  readonly transactions: readonly {
    readonly id: string;
    readonly proposalId: string;
    readonly kind: string;
    readonly status: string;
    readonly commit: string | null;
  }[];
  readonly reason: string;
  readonly exit: number;
}

/** Drives a run and prints what happens: JSON lines `{"type":"event","event":{…}}` or readable ones, then the summary. */
export async function streamRun(stream: RunStream): Promise<CommandResult> {
  const { app, engine, runId, out, interrupt } = stream;
  const finished = new AbortController();
  const print = (event: EventRecord) => {
    stream.onEvent?.(event);
    if (stream.events === false) return;
    out.document({ type: 'event', event });
    out.line(eventText(event));
  };
  const following = followEvents(engine, { runId }, stream.afterEventId, print, finished.signal);
  // A stream that breaks must not leave the run without its driver; its failure is raised after the run has ended.
  following.catch(() => undefined);
  const outcome = await app.drive(engine, runId, interrupt).finally(() => finished.abort());
  await following;
  const exit = interrupt.aborted ? interruptExit(interrupt) : outcome.exit;
  const reason = interrupt.aborted ? 'interrupted; the run is safe and can be resumed' : outcome.reason;
  const summary = summarise(await engine.query('snapshot', {}), runId, reason, exit);
  out.document(summary);
  for (const line of summaryLines(summary)) out.line(line);
  return exit;
}

export function summarise(snapshot: Snapshot, runId: string, reason: string, exit: number): RunSummary {
  const run = snapshot.runs.find((candidate) => candidate.id === runId);
  if (run === undefined) throw new Error(`run ${runId} is not in the snapshot`);
  const proposals = snapshot.proposals.filter((proposal) => proposal.runId === runId);
  const ids = new Set<string>(proposals.map((proposal) => proposal.id));
  return {
    type: 'summary',
    run,
    tasks: snapshot.tasks
      .filter((task) => task.runId === runId)
      .map(({ id, title, status, statusReason }) => ({ id, title, status, reason: statusReason })),
    proposals: proposals.map(proposalSummary),
    transactions: snapshot.transactions
      .filter((transaction) => ids.has(transaction.proposalId))
      .map(({ id, proposalId, kind, status, newCommit }) => ({ id, proposalId, kind, status, commit: newCommit })),
    reason,
    exit,
  };
}

function proposalSummary(proposal: ProposalView): RunSummary['proposals'][number] {
  const { id, taskId, title, status, statusReason, currentRevision, gates } = proposal;
  const states = Object.fromEntries(gates.map((gate) => [gate.id, gate.status]));
  return { id, taskId, title, status, reason: statusReason, revision: currentRevision, gates: states };
}

const EXIT_WORDS: Readonly<Record<number, string>> = {
  0: 'done',
  3: 'waits for you',
  4: 'finished, but with failed tasks',
  5: 'a limit was reached; resume with `roundtable run --resume`',
};

function summaryLines(summary: RunSummary): readonly string[] {
  const because = (reason: string | null) => (reason === null || reason === '' ? '' : ` (${reason})`);
  const waiting = summary.proposals.filter(
    (proposal) => summary.exit === 3 && ['pending', 'in_review', 'approved'].includes(proposal.status),
  );
  return [
    '',
    `${summary.run.id} ${summary.run.status}: ${EXIT_WORDS[summary.exit] ?? summary.reason}${because(summary.exit in EXIT_WORDS ? summary.reason : null)}`,
    ...summary.tasks.map(({ id, status, title, reason }) => `  ${id} ${status}  ${title}${because(reason)}`),
    ...summary.proposals.map(({ id, status, title, reason }) => `  ${id} ${status}  ${title}${because(reason)}`),
    ...summary.transactions.map(
      ({ id, status, kind, proposalId, commit }) =>
        `  ${id} ${status}  ${kind} ${proposalId}${commit === null ? '' : ` ${commit.slice(0, 12)}`}`,
    ),
    ...waiting.map(
      ({ id }) => `look at it: roundtable proposals show ${id} --diff; then: roundtable proposals approve ${id}`,
    ),
  ];
}
