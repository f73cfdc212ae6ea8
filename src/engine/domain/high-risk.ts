/** True for paths whose change makes a proposal `risk: high`: they steer git, CI, review or policy rather than the program. */
export function isHighRiskPath(path: string): boolean {
  const folded = path.toLowerCase();
  return HIGH_RISK_PATHS.some(({ pattern }) => pattern.test(folded));
}

/** Matched against the lower-cased path, since some hosts and file systems ignore case. */
const HIGH_RISK_PATHS: readonly { readonly pattern: RegExp; readonly why: string }[] = [
  { pattern: /(?:^|\/)\.gitattributes$/, why: 'decides how git converts, filters and shows files' },
  { pattern: /(?:^|\/)\.gitmodules$/, why: 'names repositories that git fetches' },
  { pattern: /(?:^|\/)\.(?:github|gitea|forgejo)\/(?:workflows|actions)\//, why: 'CI of the forge' },
  { pattern: /(?:^|\/)action\.ya?ml$/, why: 'an action that CI runs' },
  { pattern: /(?:^|\/)\.gitlab-ci[^/]*\.ya?ml$|(?:^|\/)\.gitlab\//, why: 'CI of GitLab' },
  {
    pattern: /(?:^|\/)\.(?:circleci|buildkite|woodpecker|semaphore|teamcity|azure-pipelines|ci)\//,
    why: 'CI directory',
  },
  {
    pattern:
      /(?:^|\/)(?:jenkinsfile[^/]*|(?:azure|bitbucket)-pipelines[^/]*\.ya?ml|\.?(?:travis|drone|woodpecker|appveyor|cirrus|gocd)\.ya?ml|cloudbuild\.ya?ml|buildspec\.ya?ml)$/,
    why: 'CI file',
  },
  {
    pattern: /(?:^|\/)(?:\.husky|\.githooks)\/|(?:^|\/)(?:\.pre-commit-config|\.?lefthook(?:-local)?)\.ya?ml$/,
    why: 'checks that run by themselves at a commit',
  },
  { pattern: /(?:^|\/)codeowners$/, why: 'says who must review' },
  { pattern: /(?:^|\/)policies\.roundtable\.md$/, why: 'the policy itself' },
];
