import type { BaseState } from '../domain/gates.ts';
import type { ObjectId } from '../domain/ids.ts';
import type { RevisionRecord } from '../domain/records.ts';
import type { DecisionDeps } from './deps.ts';
import { settledProposal } from './end-task.ts';

/** Answers how revisions stand to their target now. Verdicts are kept per (revision, target commit): both never change. */
export interface BaseStates {
  of(revision: RevisionRecord, targetRef: string, signal: AbortSignal): Promise<BaseState>;
  /** For every open proposal's current revision, by proposal id. */
  ofOpenProposals(signal: AbortSignal): Promise<ReadonlyMap<string, BaseState>>;
}

export function createBaseStates(deps: DecisionDeps): BaseStates {
  const verdicts = new Map<string, BaseState>();

  async function of(revision: RevisionRecord, targetRef: string, signal: AbortSignal): Promise<BaseState> {
    const target = await deps.git.resolve(targetRef, signal);
    if (!target.ok) return { kind: 'unknown', reason: target.error.message };
    if (target.value === null) return { kind: 'unknown', reason: `${targetRef} is gone` };
    return judge(revision, target.value, signal);
  }

  async function judge(revision: RevisionRecord, target: ObjectId, signal: AbortSignal): Promise<BaseState> {
    if (target === revision.baseCommit) return { kind: 'fresh' };
    const key = `${revision.proposalId}/${revision.number}/${target}`;
    const known = verdicts.get(key);
    if (known) return known;
    const verdict = await compare(deps, revision, target, signal);
    if (verdict.kind !== 'unknown') {
      if (verdicts.size >= MAX_VERDICTS) verdicts.clear();
      verdicts.set(key, verdict);
    }
    return verdict;
  }

  async function ofOpenProposals(signal: AbortSignal): Promise<ReadonlyMap<string, BaseState>> {
    const open = deps.store.read((rows) =>
      rows.runs.all().flatMap((run) =>
        rows.proposals
          .ofRun(run.id)
          .filter((proposal) => !settledProposal(proposal.status))
          .map((proposal) => ({
            proposal,
            run,
            revision: rows.proposals.revision(proposal.id, proposal.currentRevision),
          })),
      ),
    );
    const targets = new Map<string, Promise<BaseState | ObjectId>>();
    const states = new Map<string, BaseState>();
    for (const { proposal, run, revision } of open) {
      if (!revision) continue;
      const target = targets.get(run.targetRef) ?? resolveOnce(deps, run.targetRef, signal);
      targets.set(run.targetRef, target);
      const commit = await target;
      states.set(proposal.id, typeof commit === 'string' ? await judge(revision, commit, signal) : commit);
    }
    return states;
  }

  return { of, ofOpenProposals };
}

const MAX_VERDICTS = 10_000;

async function resolveOnce(deps: DecisionDeps, ref: string, signal: AbortSignal): Promise<BaseState | ObjectId> {
  const target = await deps.git.resolve(ref, signal);
  if (!target.ok) return { kind: 'unknown', reason: target.error.message };
  return target.value ?? { kind: 'unknown', reason: `${ref} is gone` };
}

async function compare(
  deps: DecisionDeps,
  revision: RevisionRecord,
  target: ObjectId,
  signal: AbortSignal,
): Promise<BaseState> {
  const fetched = await deps.revisions.ensureBase(target, signal);
  if (!fetched.ok) return { kind: 'unknown', reason: fetched.error.message };
  const { maxFileBytes, maxChangedFiles } = deps.settings.current();
  const graft = await deps.revisions.graft(
    {
      oldBase: revision.baseCommit,
      resultTree: revision.resultTree,
      newBase: target,
      limits: { maxFileBytes, maxChangedFiles },
    },
    signal,
  );
  if (!graft.ok) {
    if (graft.error.code === 'revision_refused')
      return {
        kind: 'moved',
        targetCommit: target,
        paths: graft.error.path === null ? touched(revision) : [graft.error.path],
      };
    return { kind: 'unknown', reason: graft.error.message };
  }
  if (graft.value !== null) return { kind: 'graftable', targetCommit: target };
  const there = await deps.revisions.entryIds(target, touched(revision), signal);
  const changed = there.ok
    ? revision.changes
        .filter((change) => (there.value.get(change.path) ?? null) !== change.oldId)
        .map((change) => change.path)
    : [];
  return { kind: 'moved', targetCommit: target, paths: changed.length > 0 ? changed : touched(revision) };
}

function touched(revision: RevisionRecord): readonly string[] {
  return revision.changes.map((change) => change.path);
}
