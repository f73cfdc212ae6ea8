import type { Command } from 'commander';
import type { CommandName, Ownership } from '../../src/engine/api.ts';
import { implement, type Program, withExample } from './invocation.ts';
import { printPage } from './lists.ts';
import { notFound } from './not-found.ts';
import { addPaging, type PageOptions } from './page.ts';
import { summarise } from './stream-run.ts';
import { withEngine, withSnapshot } from './with-engine.ts';

/** Moves of a run that the operator may ask for, with what each needs of the engine. */
const MOVES = {
  pause: { command: 'run.pause', ownership: 'never', does: 'start no further sessions', done: 'paused' },
  drain: { command: 'run.drain', ownership: 'brief', does: 'let live sessions finish, then stop', done: 'is draining' },
  stop: {
    command: 'run.stop',
    ownership: 'brief',
    does: 'stop live sessions and the run; it can be resumed',
    done: 'stopped',
  },
  resume: {
    command: 'run.resume',
    ownership: 'never',
    does: 'let a paused, stopped or blocked run go on',
    done: 'is active again',
  },
} as const satisfies Record<string, { command: CommandName; ownership: Ownership; does: string; done: string }>;

export function addRuns(parent: Command, program: Program): void {
  const group = parent.command('runs').description('look at runs and steer them');
  withExample(group, 'roundtable runs list');

  const list = addPaging(group.command('list').description('runs, oldest first'));
  implement<PageOptions>(program, list, 'roundtable runs list', (invocation) =>
    withSnapshot(invocation, 'runs list', ({ runs }) =>
      printPage(invocation, runs, ['ID', 'STATUS', 'TARGET', 'SESSIONS', 'GOAL'], (run) => [
        run.id,
        run.status,
        run.targetRef,
        String(run.iterations),
        run.goal,
      ]),
    ),
  );

  const show = group
    .command('show')
    .description('one run with its tasks, proposals and transactions')
    .argument('<id>', 'run');
  implement(program, show, 'roundtable runs show R-1', (invocation) =>
    withSnapshot(invocation, 'runs show', (snapshot) => {
      const { out, operands } = invocation;
      const run = snapshot.runs.find((candidate) => candidate.id === operands[0]);
      if (run === undefined) return out.fail(notFound('run', operands[0], 'runs list'));
      const { tasks, proposals, transactions } = summarise(snapshot, run.id, '', 0);
      out.document({ run, tasks, proposals, transactions });
      out.line(`${run.id}  ${run.goal}`);
      out.line(`status   ${run.status}${run.statusReason === null ? '' : ` (${run.statusReason})`}`);
      out.line(`target   ${run.targetRef}`);
      out.line(`approve  ${run.approveMode}`);
      out.line(`sessions ${run.iterations}${run.maxIterations === null ? '' : ` of at most ${run.maxIterations}`}`);
      if (run.deadlineAt !== null) out.line(`until    ${run.deadlineAt}`);
      for (const { id, status, title } of [...tasks, ...proposals]) out.line(`  ${id} ${status}  ${title}`);
      for (const { id, status, kind, proposalId } of transactions) out.line(`  ${id} ${status}  ${kind} ${proposalId}`);
      return 0;
    }),
  );

  for (const [name, move] of Object.entries(MOVES)) {
    const command = group.command(name).description(move.does).argument('<id>', 'run');
    implement(program, command, `roundtable runs ${name} R-1`, (invocation) =>
      withEngine(invocation, move.ownership, `runs ${name}`, async (engine) => {
        const runId = invocation.operands[0] ?? '';
        const result = await engine.command(move.command, { runId }, 'operator');
        if (!result.ok) return invocation.out.fail(result.error);
        invocation.out.document({ runId });
        invocation.out.line(`${runId} ${move.done}`);
        return 0;
      }),
    );
  }
}
