import { describe, expect, it } from 'vitest';
import { isHighRiskPath } from '../../../src/engine/domain/high-risk.ts';

describe('high-risk paths', () => {
  it.each([
    '.gitattributes',
    'sub/.gitattributes',
    '.gitmodules',
    '.github/workflows/ci.yml',
    '.GitHub/Workflows/ci.yml',
    '.github/actions/x/action.yml',
    '.gitlab-ci.yml',
    '.circleci/config.yml',
    '.ci/run',
    'Jenkinsfile',
    'ci/Jenkinsfile.release',
    'azure-pipelines.yml',
    '.travis.yml',
    '.drone.yml',
    '.husky/pre-commit',
    '.pre-commit-config.yaml',
    'POLICIES.ROUNDTABLE.md',
    'docs/CODEOWNERS',
  ])('count %s', (path) => {
    expect(isHighRiskPath(path)).toBe(true);
  });

  it.each([
    'README.md',
    '.gitignore',
    'src/ci.ts',
    'src/actions/run.ts',
    'docs/gitattributes.md',
    '.github/ISSUE_TEMPLATE.md',
  ])('do not count %s', (path) => {
    expect(isHighRiskPath(path)).toBe(false);
  });
});
