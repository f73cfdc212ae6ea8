import type { Command } from 'commander';
import { type Engine, type EngineError, err, ok, type ProposalView, type Result } from '../../src/engine/api.ts';
import { confirmDecision } from './confirm.ts';
import type { CommandResult } from './context.ts';
import { diffText, statLines } from './diff-text.ts';
import { gateLines, openGates } from './gate-text.ts';
import { type Invocation, implement, type Program, withExample } from './invocation.ts';
import { printPage } from './lists.ts';
import { notFound } from './not-found.ts';
import type { Output } from './output.ts';
import { addPaging, type PageOptions } from './page.ts';
import { badArgument } from './usage.ts';
import { parseWhole } from './values.ts';
import { withEngine, withSnapshot } from './with-engine.ts';

export function addProposals(parent: Command, program: Program): void {
  const group = parent.command('proposals').description('look at what agents propose, and decide');
  withExample(group, 'roundtable proposals list');
  addList(group, program);
  addShow(group, program);
  addValidate(group, program);
  addTest(group, program);
  addApprove(group, program);
  addReject(group, program);
  addRequestChanges(group, program);
}

interface ListOptions extends PageOptions {
  readonly run?: string;
  readonly status?: string;
}

function addList(group: Command, program: Program): void {
  const command = addPaging(group.command('list').description('proposals, oldest first'))
    .option('--run <id>', 'only those of a run')
    .option('--status <status>', 'only those with this status');
  implement<ListOptions>(program, command, 'roundtable proposals list --status in_review', (invocation) =>
    withSnapshot(invocation, 'proposals list', ({ proposals }) => {
      const { run, status } = invocation.options;
      const fit = proposals.filter(
        (proposal) =>
          (run === undefined || proposal.runId === run) && (status === undefined || proposal.status === status),
      );
      return printPage(invocation, fit, ['ID', 'STATUS', 'REV', 'TASK', 'AGENT', 'FILES', 'TITLE'], (proposal) => [
        proposal.id,
        proposal.status,
        String(proposal.currentRevision),
        proposal.taskId,
        proposal.agentId,
        `${proposal.revision.files} +${proposal.revision.additions} -${proposal.revision.deletions}`,
        proposal.title,
      ]);
    }),
  );
}

interface ShowOptions {
  readonly diff?: boolean;
  readonly gates?: boolean;
  readonly stat?: boolean;
  readonly log?: boolean;
}

function addShow(group: Command, program: Program): void {
  const command = group
    .command('show')
    .description('one proposal: what it is, its gates and its files')
    .argument('<id>', 'proposal')
    .option('--diff', 'the change itself')
    .option('--gates', 'only the gates')
    .option('--stat', 'only the files')
    .option('--log', 'what the newest run of the tests printed');
  implement<ShowOptions>(program, command, 'roundtable proposals show P-1 --diff', (invocation) =>
    withSnapshot(invocation, 'proposals show', async ({ proposals }, engine) => {
      const { out, options, operands } = invocation;
      const proposal = find(proposals, operands[0]);
      if (!proposal.ok) return out.fail(proposal.error);
      if (options.log === true) return printTestLog(out, engine, proposal.value);
      const all = options.diff !== true && options.gates !== true && options.stat !== true;
      const wantFiles = all || options.diff === true || options.stat === true;
      const diff = wantFiles ? await engine.query('diff', { proposalId: proposal.value.id }) : null;
      if (diff !== null && !diff.ok) return out.fail(diff.error);
      out.document({ proposal: proposal.value, ...(diff === null ? {} : { files: diff.value }) });
      if (all) for (const line of headLines(proposal.value)) out.line(line);
      if (all || options.gates === true) for (const line of gateLines(proposal.value.gates)) out.line(line);
      if (diff !== null && (all || options.stat === true)) for (const line of statLines(diff.value)) out.line(line);
      if (diff !== null && options.diff === true) out.block(diffText(diff.value));
      return 0;
    }),
  );
}

const TEST_LOG_BYTES = 1024 * 1024;

/** The log of the newest test run of the current revision: what to read when the tests gate has failed. */
async function printTestLog(out: Output, engine: Engine, proposal: ProposalView): Promise<number> {
  const run = proposal.testRuns.at(-1);
  if (run === undefined) {
    return out.fail(
      badArgument(
        `no test ran on ${proposal.id} revision ${proposal.currentRevision}`,
        'run them with `roundtable proposals test`',
      ),
    );
  }
  const log = await engine.query('testLog', { testRunId: run.id, fromByte: 0, maxBytes: TEST_LOG_BYTES });
  if (!log.ok) return out.fail(log.error);
  out.document({ testRun: run, text: log.value.text });
  out.line(`${run.id} ${run.status}  ${run.argv.join(' ')}${run.detail === null ? '' : `  (${run.detail})`}`);
  out.block(log.value.text);
  if (log.value.truncated) out.note('the log was cut off at the limit of sandbox.output_bytes');
  return 0;
}

function headLines(proposal: ProposalView): readonly string[] {
  const { revision } = proposal;
  const reason = proposal.statusReason === null ? '' : ` (${proposal.statusReason})`;
  return [
    `${proposal.id}  ${proposal.title}`,
    `status    ${proposal.status}${reason}`,
    `by        ${proposal.agentId} in ${proposal.sessionId}, for ${proposal.taskId}`,
    `revision  ${revision.number} on ${revision.baseCommit.slice(0, 12)}: ${revision.files} files, +${revision.additions} -${revision.deletions}`,
    ...(revision.highRiskPaths.length === 0 ? [] : [`high risk ${revision.highRiskPaths.join(', ')}`]),
    ...proposal.approvals.map(
      ({ principal, revision: of, origin, at }) => `approved  by ${principal} (${origin}) for revision ${of} at ${at}`,
    ),
    ...proposal.testRuns.map(({ id, argv, status }) => `test      ${id} ${status}  ${argv.join(' ')}`),
  ];
}

function addValidate(group: Command, program: Program): void {
  const command = group
    .command('validate')
    .description('say whether every gate holds; exit 3 when not')
    .argument('<id>', 'proposal');
  implement(program, command, 'roundtable proposals validate P-1', (invocation) =>
    withSnapshot(invocation, 'proposals validate', ({ proposals }) => {
      const { out, operands } = invocation;
      const proposal = find(proposals, operands[0]);
      if (!proposal.ok) return out.fail(proposal.error);
      const { id, currentRevision, gates } = proposal.value;
      const open = openGates(gates);
      out.document({ id, revision: currentRevision, holds: open.length === 0, gates });
      for (const line of gateLines(gates)) out.line(line);
      return open.length === 0 ? 0 : 3;
    }),
  );
}

function addTest(group: Command, program: Program): void {
  const command = group
    .command('test')
    .description('run the required tests again on its result; exit 4 when they fail')
    .argument('<id>', 'proposal');
  implement(program, command, 'roundtable proposals test P-1', (invocation) =>
    withEngine(invocation, 'brief', 'proposals test', async (engine) => {
      const { out, operands } = invocation;
      const proposalId = operands[0] ?? '';
      const result = await engine.command('proposal.test', { proposalId }, 'operator');
      if (!result.ok) return out.fail(result.error);
      out.document({ proposalId, passed: result.value.passed });
      out.line(`tests of ${proposalId} ${result.value.passed ? 'passed' : 'failed'}`);
      return result.value.passed ? 0 : 4;
    }),
  );
}

interface DecisionOptions {
  readonly revision?: number;
}

function decision(group: Command, name: string, description: string): Command {
  return group
    .command(name)
    .description(description)
    .argument('<id>', 'proposal')
    .option('--revision <n>', 'refuse when this is not the current revision', parseWhole('--revision', 1, 1_000_000));
}

function addApprove(group: Command, program: Program): void {
  const command = decision(
    group,
    'approve',
    'approve the current revision; it is applied when every gate holds',
  ).option('--note <text>', 'kept with the approval');
  implement<DecisionOptions & { readonly note?: string }>(
    program,
    command,
    'roundtable proposals approve P-1',
    (invocation) =>
      withEngine(invocation, 'brief', 'proposals approve', async (engine) => {
        const { out, options } = invocation;
        const decided = await decide(invocation, engine, 'approve');
        if (!decided.ok) return out.fail(decided.error);
        const result = await engine.command(
          'proposal.approve',
          { ...decided.value, note: options.note ?? null },
          'operator',
        );
        if (!result.ok) return out.fail(result.error);
        const { applied, transactionId, gates } = result.value;
        const { proposalId, revision } = decided.value;
        out.document({ proposalId, revision, applied, transactionId, gates });
        out.line(
          `${proposalId} revision ${revision} approved${applied ? ` and applied by ${transactionId ?? ''}` : ', not applied yet'}`,
        );
        if (!applied) for (const line of gateLines(openGates(gates))) out.line(`  ${line}`);
        return 0;
      }),
  );
}

function addReject(group: Command, program: Program): void {
  const command = decision(group, 'reject', 'turn a proposal down').requiredOption('--reason <text>', 'why');
  implement<DecisionOptions & { readonly reason: string }>(
    program,
    command,
    'roundtable proposals reject P-1 --reason "wrong approach"',
    (invocation) =>
      withEngine(invocation, 'never', 'proposals reject', async (engine) => {
        const decided = await decide(invocation, engine, 'reject');
        if (!decided.ok) return invocation.out.fail(decided.error);
        const result = await engine.command(
          'proposal.reject',
          { ...decided.value, reason: invocation.options.reason },
          'operator',
        );
        return result.ok ? decidedAs(invocation, decided.value, 'rejected') : invocation.out.fail(result.error);
      }),
  );
}

function addRequestChanges(group: Command, program: Program): void {
  const command = decision(group, 'request-changes', 'send a proposal back to its agent').requiredOption(
    '--message <text>',
    'what is to be changed',
  );
  implement<DecisionOptions & { readonly message: string }>(
    program,
    command,
    'roundtable proposals request-changes P-1 --message "add a test"',
    (invocation) =>
      withEngine(invocation, 'never', 'proposals request-changes', async (engine) => {
        const decided = await decide(invocation, engine, 'send back');
        if (!decided.ok) return invocation.out.fail(decided.error);
        const result = await engine.command(
          'proposal.requestChanges',
          { ...decided.value, message: invocation.options.message },
          'operator',
        );
        return result.ok ? decidedAs(invocation, decided.value, 'sent back') : invocation.out.fail(result.error);
      }),
  );
}

function decidedAs<O>(
  { out }: Invocation<O>,
  decided: { readonly proposalId: string; readonly revision: number },
  word: string,
): CommandResult {
  out.document({ proposalId: decided.proposalId, revision: decided.revision });
  out.line(`${decided.proposalId} revision ${decided.revision} ${word}`);
  return 0;
}

/** The revision that was shown and the operator's word for exactly that one. */
async function decide<O extends DecisionOptions>(invocation: Invocation<O>, engine: Engine, verb: string) {
  const { proposals } = await engine.query('snapshot', {});
  const proposal = find(proposals, invocation.operands[0]);
  if (!proposal.ok) return proposal;
  const { id, title, currentRevision, agentId, revision } = proposal.value;
  const wanted = invocation.options.revision ?? currentRevision;
  if (wanted !== currentRevision) {
    return err(
      badArgument(
        `${id} is at revision ${currentRevision}, not ${wanted}`,
        `look at it again: roundtable proposals show ${id} --diff`,
      ),
    );
  }
  const size = `${revision.files} files, +${revision.additions} -${revision.deletions}`;
  const question = `${verb} ${id} revision ${currentRevision} by ${agentId} (${size}): ${title}`;
  const origin = await confirmDecision(invocation, id, question);
  return origin.ok ? ok({ proposalId: id, revision: currentRevision, origin: origin.value }) : origin;
}

function find(proposals: readonly ProposalView[], id: string | undefined): Result<ProposalView, EngineError> {
  const proposal = proposals.find((candidate) => candidate.id === id);
  return proposal === undefined ? err(notFound('proposal', id, 'proposals list')) : ok(proposal);
}
