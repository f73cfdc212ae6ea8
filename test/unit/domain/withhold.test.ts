import { describe, expect, it } from 'vitest';
import { isWithheld, WITHHELD } from '../../../src/engine/domain/withhold.ts';

describe('the list of sensitive files', () => {
  it.each([
    '.env',
    '.env.local',
    '.ENV.Production',
    'app/.env',
    'config/prod.env',
    '.envrc',
    'certs/server.pem',
    'a/b/private.KEY',
    'store.p12',
    'id_rsa',
    '.ssh/config',
    'home/.ssh/id_ed25519',
    'keys/id_ecdsa.bak',
    '.npmrc',
    'pkg/.npmrc',
    '.netrc',
    '.git-credentials',
    'credentials',
    'gcp/credentials.json',
    'my-service-account.json',
    'service_account_prod.json',
    '.aws/credentials',
    'x/.gnupg/trustdb.gpg',
    '.docker/config.json',
    '.config/gcloud/x',
    'infra/terraform.tfstate',
    '.git',
    '.git/config',
    'vendor/x/.git/HEAD',
    '.roundtable/config.yaml',
    '.Roundtable/keys.yaml',
  ])('withholds %s', (path) => {
    expect(isWithheld(path)).toBe(true);
  });

  it.each([
    '.env.example',
    '.env.sample',
    'app/.env.template',
    '.env.production.example',
    'src/env.ts',
    'src/environment.ts',
    'src/key.ts',
    'src/keys/index.ts',
    'docs/credentials.md',
    'src/credentials.ts',
    'docker/config.json',
    'aws/main.tf',
    '.github/workflows/ci.yml',
    '.gitignore',
    '.gitattributes',
    'docs/.roundtable-notes',
    'sub/.roundtable/x',
    'pem',
    'package.json',
  ])('gives %s', (path) => {
    expect(isWithheld(path)).toBe(false);
  });

  it.each(WITHHELD.map(({ label }) => label))('does what its documentation says: %s', (label) => {
    const names = label.split(', but not ')[0]?.split(/, | and /) ?? [];
    for (const name of names) {
      const example = name.endsWith('/') ? `${name}x` : name.replaceAll('*', name.startsWith('*.') ? 'x' : '');
      expect([example, isWithheld(`deep/down/${example}`)]).toEqual([example, true]);
    }
  });

  it('is only ever extended by the configuration', () => {
    expect(isWithheld('private/plan.md', (path) => path.startsWith('private/'))).toBe(true);
    expect(isWithheld('.env', () => false)).toBe(true);
  });
});
