import type { Command } from 'commander';
import { implement, type Program, withExample } from './invocation.ts';
import { printPage } from './lists.ts';
import { addPaging, type PageOptions } from './page.ts';
import { withSnapshot } from './with-engine.ts';

interface Options extends PageOptions {
  readonly run?: string;
  readonly all?: boolean;
}

export function addClaims(parent: Command, program: Program): void {
  const group = parent.command('claims').description('who holds which paths');
  withExample(group, 'roundtable claims list');
  const list = addPaging(group.command('list').description('live claims, oldest first'))
    .option('--run <id>', 'only those of a run')
    .option('--all', 'also those that have ended');
  implement<Options>(program, list, 'roundtable claims list --all', (invocation) =>
    withSnapshot(invocation, 'claims list', ({ claims }) => {
      const { run, all } = invocation.options;
      const fit = claims.filter(
        (claim) =>
          (run === undefined || claim.runId === run) &&
          (all === true || claim.status === 'active' || claim.status === 'suspended'),
      );
      return printPage(invocation, fit, ['ID', 'STATUS', 'MODE', 'PATH', 'AGENT', 'TASK', 'EXPIRES'], (claim) => [
        claim.id,
        claim.status,
        claim.mode,
        claim.path,
        claim.agentId,
        claim.taskId ?? '',
        claim.expiresAt,
      ]);
    }),
  );
}
