import type { Command } from 'commander';
import { implement, type Program, withExample } from './invocation.ts';
import { printPage } from './lists.ts';
import { notFound } from './not-found.ts';
import { addPaging, type PageOptions } from './page.ts';
import { badArgument } from './usage.ts';
import { withEngine, withSnapshot } from './with-engine.ts';

export function addAgents(parent: Command, program: Program): void {
  const group = parent.command('agents').description('the configured participants');
  withExample(group, 'roundtable agents list');

  const list = addPaging(group.command('list').description('agents with their adapter and what they do now')).option(
    '--all',
    'also those that are no longer configured',
  );
  implement<PageOptions & { readonly all?: boolean }>(program, list, 'roundtable agents list', (invocation) =>
    withSnapshot(invocation, 'agents list', ({ agents, sessions }) => {
      const fit = agents.filter((agent) => invocation.options.all === true || !agent.retired);
      const live = (id: string) =>
        sessions.filter((session) => session.agentId === id && session.endedAt === null).length;
      return printPage(invocation, fit, ['ID', 'ROLE', 'STATUS', 'ADAPTER', 'MODEL', 'SESSIONS'], (agent) => [
        agent.id,
        agent.role,
        agent.retired ? 'retired' : agent.status,
        agent.adapter,
        agent.model,
        `${live(agent.id)}/${agent.maxSessions}`,
      ]);
    }),
  );

  const show = group.command('show').description('one agent').argument('<id>', 'agent');
  implement(program, show, 'roundtable agents show implementer-1', (invocation) =>
    withSnapshot(invocation, 'agents show', ({ agents, sessions }) => {
      const { out, operands } = invocation;
      const agent = agents.find((candidate) => candidate.id === operands[0]);
      if (agent === undefined) return out.fail(notFound('agent', operands[0], 'agents list'));
      const own = sessions.filter((session) => session.agentId === agent.id);
      const seen =
        own
          .map((session) => session.lastSeenAt)
          .filter((at) => at !== null)
          .sort()
          .at(-1) ?? null;
      out.document({ agent, lastSeenAt: seen, sessions: own.map(({ id, status }) => ({ id, status })) });
      out.line(`${agent.id}  ${agent.role}, adapter ${agent.adapter}, model ${agent.model}`);
      out.line(
        `status     ${agent.retired ? 'retired' : agent.status}${agent.enabledByOperator ? '' : ', disabled by the operator'}`,
      );
      out.line(`last seen  ${seen ?? 'never'}`);
      for (const { id, status, taskId } of own) out.line(`  ${id} ${status}  ${taskId ?? ''}`);
      return 0;
    }),
  );

  const enable = group.command('enable').description('let an agent take tasks').argument('<id>', 'agent');
  implement(program, enable, 'roundtable agents enable implementer-1', (invocation) =>
    withEngine(invocation, 'never', 'agents enable', async (engine) => {
      const agentId = invocation.operands[0] ?? '';
      const result = await engine.command('agent.enable', { agentId }, 'operator');
      if (!result.ok) return invocation.out.fail(result.error);
      invocation.out.document({ agentId });
      invocation.out.line(`${agentId} enabled`);
      return 0;
    }),
  );

  const disable = group
    .command('disable')
    .description('give an agent no further tasks; with live sessions say how')
    .argument('<id>', 'agent')
    .option('--drain', 'let live sessions finish')
    .option('--now', 'stop live sessions');
  implement<{ readonly drain?: boolean; readonly now?: boolean }>(
    program,
    disable,
    'roundtable agents disable implementer-1 --drain',
    async (invocation) => {
      const { out, options } = invocation;
      if (options.drain === true && options.now === true)
        return out.fail(badArgument('--drain and --now contradict each other', 'give one of them'));
      const how = options.drain === true ? 'drain' : options.now === true ? 'now' : 'refuse';
      return withEngine(invocation, how === 'now' ? 'brief' : 'never', 'agents disable', async (engine) => {
        const agentId = invocation.operands[0] ?? '';
        const result = await engine.command('agent.disable', { agentId, how }, 'operator');
        if (!result.ok) return out.fail(result.error);
        out.document({ agentId, how });
        out.line(how === 'drain' ? `${agentId} takes no further tasks` : `${agentId} disabled`);
        return 0;
      });
    },
  );
}
