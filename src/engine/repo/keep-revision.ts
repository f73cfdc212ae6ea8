import type { BuiltRevision } from '../ports/private-repository.ts';
import type { GitPlace, GitRunner } from './git-runner.ts';

/**
 * Points `refs/revisions/<proposal>/<number>` at a commit of the result on its base. The commit depends on nothing but the
 * revision, so doing it again changes nothing; it is never one of the user's commits.
 */
export async function keepRevision(
  runner: GitRunner,
  place: GitPlace,
  kept: { readonly proposalId: string; readonly number: number; readonly revision: BuiltRevision },
  signal: AbortSignal,
): Promise<void> {
  const { proposalId, number, revision } = kept;
  if (!/^[A-Za-z0-9-]+$/.test(proposalId)) throw new Error(`${proposalId} can not be part of a ref`);
  const args = [
    'commit-tree',
    revision.resultTree,
    '-p',
    revision.baseCommit,
    '-m',
    `Revision ${number} of ${proposalId}`,
  ];
  const commit = await runner.must({ ...place, env: { ...place.env, ...IDENTITY }, args, signal });
  const id = commit.toString('latin1').trim();
  await runner.must({ ...place, args: ['update-ref', `refs/revisions/${proposalId}/${number}`, id], signal });
}

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Roundtable',
  GIT_AUTHOR_EMAIL: 'roundtable@localhost',
  GIT_AUTHOR_DATE: '@0 +0000',
  GIT_COMMITTER_NAME: 'Roundtable',
  GIT_COMMITTER_EMAIL: 'roundtable@localhost',
  GIT_COMMITTER_DATE: '@0 +0000',
};
