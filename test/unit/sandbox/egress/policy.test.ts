import { describe, expect, it } from 'vitest';
import { compileEgressPolicy, type EgressPolicy } from '../../../../src/sandbox/egress/policy.ts';

function policyOf(hosts: string[], exceptions: Record<string, string[]> = {}): EgressPolicy {
  const compiled = compileEgressPolicy({ hosts, exceptions });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.error));
  return compiled.value;
}

describe('compiling what is allowed', () => {
  it.each([
    ['*.example.com', 'host-invalid'],
    ['.example.com', 'host-invalid'],
    ['example.com.', 'host-invalid'],
    ['example.com:443', 'host-invalid'],
    ['https://example.com', 'host-invalid'],
    ['', 'host-invalid'],
    ['my_host.example.com', 'host-invalid'],
    ['8.8.8.8', 'ip-literal'],
    ['bücher.example', 'host-not-ascii'],
    ['\u212aey.example', 'host-not-ascii'],
  ])('refuses the entry %j with its rule', (host, rule) => {
    expect(compileEgressPolicy({ hosts: ['api.example.com', host] })).toMatchObject({
      ok: false,
      error: { code: 'egress_host_invalid', host, rule },
    });
  });

  it.each([
    ['other.example', '198.18.0.0/15', 'host-not-listed'],
    ['api.example.com', '198.18.0.0', 'not-a-network'],
    ['api.example.com', '198.18.0.1/15', 'not-a-network'],
    ['api.example.com', '198.18.0.0/33', 'not-a-network'],
    ['api.example.com', '0.0.0.0/0', 'never-allowed'],
    ['api.example.com', '198.16.0.0/13', 'never-allowed'],
    ['api.example.com', '169.254.0.0/16', 'never-allowed'],
    ['api.example.com', '169.254.169.254/32', 'never-allowed'],
    ['api.example.com', '8.8.8.0/24', 'never-allowed'],
    ['api.example.com', '::/0', 'never-allowed'],
    ['api.example.com', '::ffff:0:0/96', 'never-allowed'],
    ['api.example.com', '64:ff9b::/96', 'never-allowed'],
    ['api.example.com', 'fe80::/10', 'never-allowed'],
  ])('refuses the exception %s → %s as %s', (host, network, reason) => {
    expect(compileEgressPolicy({ hosts: ['api.example.com'], exceptions: { [host]: [network] } })).toMatchObject({
      ok: false,
      error: { code: 'egress_exception_invalid', host, network, reason },
    });
  });
});

describe('judging a target', () => {
  const policy = policyOf(['API.Example.com']);

  it('compares ASCII letters without case and says the lower-case name', () => {
    expect(policy.judgeTarget('api.EXAMPLE.com:443')).toEqual({
      verdict: 'allowed',
      rule: 'configured-host',
      host: 'api.example.com',
      port: 443,
    });
  });

  it('names rule, remedy and what was asked for', () => {
    expect(policy.judgeTarget('evil.example:443')).toMatchObject({
      verdict: 'refused',
      rule: 'host-not-allowed',
      remedy: expect.stringContaining('configured hosts'),
      host: 'evil.example',
      port: 443,
    });
    expect(policy.judgeTarget('api.example.com:8443')).toMatchObject({ rule: 'port-not-allowed', port: 8443 });
  });

  it('allows nothing with an empty list', () => {
    expect(policyOf([]).judgeTarget('constructor:443')).toMatchObject({ verdict: 'refused', rule: 'host-not-allowed' });
  });
});

describe('judging answers', () => {
  const policy = policyOf(['api.example.com', 'other.example'], { 'API.example.com': ['198.18.0.0/15', 'fc00::/18'] });

  it('refuses all of them for one bad answer in either family, and names it', () => {
    expect(policy.judgeAnswers('other.example', ['93.184.215.14', '2606:4700::1', 'fd00::1'], 64)).toMatchObject({
      verdict: 'refused',
      rule: 'address-refused',
      address: 'fd00::1',
      class: 'unique-local',
    });
  });

  it('opens an exception for its own host and networks only', () => {
    expect(policy.judgeAnswers('api.example.com', ['198.18.0.7', 'fc00::7', '8.8.8.8'], 64)).toMatchObject({
      verdict: 'allowed',
    });
    expect(policy.judgeAnswers('api.example.com', ['10.0.0.1'], 64)).toMatchObject({
      verdict: 'refused',
      class: 'private',
    });
    expect(policy.judgeAnswers('other.example', ['198.18.0.7'], 64)).toMatchObject({
      verdict: 'refused',
      class: 'benchmark',
    });
  });

  it('does not let a zone or an embedded form through an exception', () => {
    for (const answer of ['fc00::7%eth0', '::ffff:198.18.0.7', 'fc00::7%']) {
      expect(policy.judgeAnswers('api.example.com', [answer], 64)).toMatchObject({
        verdict: 'refused',
        rule: 'address-refused',
      });
    }
  });

  it('refuses a zone on a public address too', () => {
    expect(policy.judgeAnswers('other.example', ['2606:4700::1%eth0'], 64)).toMatchObject({ rule: 'address-refused' });
  });

  it('counts the same address once, and bounds their number', () => {
    const twice = policy.judgeAnswers('other.example', ['2606:4700::1', '2606:4700:0:0::1'], 64);
    expect(twice.verdict === 'allowed' && twice.addresses.map(({ text }) => text)).toHaveLength(1);
    expect(policy.judgeAnswers('other.example', ['8.8.8.8', '1.1.1.1'], 1)).toMatchObject({
      rule: 'too-many-addresses',
    });
    expect(policy.judgeAnswers('other.example', [], 64)).toMatchObject({ rule: 'no-address' });
  });
});
