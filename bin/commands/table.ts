import type { Command } from 'commander';
import type { Snapshot } from '../../src/engine/api.ts';
import { columns } from './columns.ts';
import { implement, type Program } from './invocation.ts';
import { withSnapshot } from './with-engine.ts';

export function addTable(parent: Command, program: Program): void {
  const command = parent.command('table').description('one consistent picture of everything');
  implement(program, command, 'roundtable table --json', (invocation) =>
    withSnapshot(invocation, 'table', (snapshot) => {
      const { out } = invocation;
      out.document(snapshot);
      if (out.json) return 0;
      out.line(`${snapshot.project.name}  ${snapshot.project.branch ?? 'detached'}  event ${snapshot.lastEventId}`);
      for (const [title, heading, rows] of sections(snapshot)) {
        out.line();
        out.line(`${title} (${rows.length})`);
        if (rows.length > 0) for (const line of columns(heading, rows)) out.line(`  ${line}`);
      }
      return 0;
    }),
  );
}

type Section = readonly [title: string, heading: readonly string[], rows: readonly (readonly string[])[]];

function sections(snapshot: Snapshot): readonly Section[] {
  return [
    ['Waits for you', ['KIND', 'ID', 'WHAT'], snapshot.attention.map((item) => [item.kind, item.id, item.text])],
    ['Runs', ['ID', 'STATUS', 'GOAL'], snapshot.runs.map((run) => [run.id, run.status, run.goal])],
    ['Tasks', ['ID', 'STATUS', 'TITLE'], snapshot.tasks.map((task) => [task.id, task.status, task.title])],
    [
      'Agents',
      ['ID', 'STATUS', 'ROLE', 'ADAPTER'],
      snapshot.agents.map((agent) => [agent.id, agent.status, agent.role, agent.adapter]),
    ],
    [
      'Sessions',
      ['ID', 'STATUS', 'AGENT', 'TASK'],
      snapshot.sessions.map((session) => [session.id, session.status, session.agentId, session.taskId ?? '']),
    ],
    [
      'Claims',
      ['ID', 'STATUS', 'MODE', 'PATH', 'AGENT'],
      snapshot.claims.map((claim) => [claim.id, claim.status, claim.mode, claim.path, claim.agentId]),
    ],
    [
      'Proposals',
      ['ID', 'STATUS', 'REV', 'OPEN GATES', 'TITLE'],
      snapshot.proposals.map((proposal) => [
        proposal.id,
        proposal.status,
        String(proposal.currentRevision),
        proposal.gates
          .filter((gate) => gate.status === 'pending' || gate.status === 'failed')
          .map((gate) => gate.id)
          .join(' '),
        proposal.title,
      ]),
    ],
    [
      'Transactions',
      ['ID', 'STATUS', 'KIND', 'PROPOSAL'],
      snapshot.transactions.map((transaction) => [
        transaction.id,
        transaction.status,
        transaction.kind,
        transaction.proposalId,
      ]),
    ],
  ];
}
