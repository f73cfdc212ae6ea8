import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { TransactionId } from '../../../src/engine/domain/ids.ts';
import { LIFECYCLES } from '../../../src/engine/domain/lifecycle.ts';
import type { RecoverySummary } from '../../../src/engine/run/transactions/manager.ts';
import { git } from './git.ts';
import { leftovers, type Snapshot, snapshot } from './snapshot.ts';
import type { Engine, World } from './world.ts';

/** What one interrupted transaction is measured against. */
export interface Case {
  readonly transactionId: string;
  readonly before: Snapshot;
  /** Commit on the branch before. */
  readonly oldCommit: string;
  /** As the work tree's files are when the transaction is wholly done. */
  readonly after: Readonly<Record<string, string>>;
  /** `git ls-files --stage -t` and the commit's tree when it is done. */
  readonly afterIndex: string;
  readonly resultTree: string;
  readonly commits: boolean;
  /** Files that the user wrote between the crash and the recovery: path → bytes as text. */
  readonly edits: Readonly<Record<string, string>>;
}

/**
 * Everything that must hold after recovery, whatever the moment of the crash was. Answers what does not; an empty list is
 * a right run.
 */
export function judge(world: World, engine: Engine, summary: RecoverySummary | null, wanted: Case): string[] {
  const problems: string[] = [];
  const now = snapshot(world);
  const record = engine.deps.journal.get(wanted.transactionId as TransactionId);
  const head = new RegExp(`^${world.branch} (\\S+)`, 'm').exec(now.refs)?.[1];
  const applied = record?.status === 'applied';

  if (summary !== null && summary.blocked.length > 0) problems.push(`blocked: ${JSON.stringify(summary.blocked)}`);
  if (engine.deps.journal.open().length > 0) problems.push('the journal is not closed');
  if (record !== null && !(record.status in LIFECYCLES.transaction)) problems.push(`status ${record.status}`);
  if (record !== null && record.endedAt === null) problems.push('the transaction has no end');
  if (record !== null && phasesOpen(engine, record.id)) problems.push('a phase has no end');
  for (const name of leftovers(world)) problems.push(`left behind: ${name}`);

  const left = engine.settled.at(-1)?.left ?? [];
  if (left.length > 0 && Object.keys(wanted.edits).length === 0)
    problems.push(`left without an edit: ${left.join(', ')}`);
  if (left.length > 0 && record?.needsOperator !== true) problems.push('paths were left, but nobody is told');
  const landed = wanted.commits ? head !== wanted.oldCommit : applied;
  if (wanted.commits && landed !== applied)
    problems.push(`status ${record?.status ?? 'none'}, but the reference ${landed ? 'moved' : 'did not move'}`);
  if (landed && wanted.commits && git(world.project, ['rev-parse', 'HEAD^{tree}']) !== wanted.resultTree)
    problems.push('the commit has another tree');

  for (const [name, text] of Object.entries(wanted.edits))
    if (readFileSync(path.join(world.project, name), 'utf8') !== text)
      problems.push(`the user's edit of ${name} is gone`);
  const expected = files(landed ? wanted.after : wanted.before.tree);
  const found = files(now.tree);
  for (const name of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    if (name in wanted.edits || left.includes(name)) continue;
    if (expected[name] !== found[name])
      problems.push(`${name}: ${found[name] ?? 'absent'}, not ${expected[name] ?? 'absent'}`);
  }
  if (!landed && now.index !== wanted.before.index) problems.push('the index changed');
  if (landed && now.index !== wanted.afterIndex) problems.push('the index is not the result');
  if (!landed && Object.keys(wanted.edits).length === 0 && now.status !== wanted.before.status)
    problems.push(`git status changed: ${now.status}`);

  const events = engine.store.read((repositories) => repositories.events.list({ limit: 1000 }));
  const ends = events.filter(
    (event) => event.entityId === wanted.transactionId && event.type !== 'transaction.prepared',
  );
  if (record !== null && (ends.length !== 1 || ends[0]?.type !== `transaction.${applied ? 'applied' : 'aborted'}`))
    problems.push(`settled as ${JSON.stringify(ends.map((event) => event.type))}`);
  return problems;
}

function phasesOpen(engine: Engine, id: TransactionId): boolean {
  const phases = engine.store.read((repositories) => repositories.transactions.phases(id));
  return phases.some((phase) => phase.endedAt === null);
}

function files(tree: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(tree).filter(([name]) => !name.endsWith('/')));
}
