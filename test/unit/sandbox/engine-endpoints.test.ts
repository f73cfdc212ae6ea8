import { describe, expect, it } from 'vitest';
import { describeEndpoint, engineEndpoints } from '../../../src/sandbox/containers/engine-endpoints.ts';

const auto = { engine: 'auto', socket: null } as const;
const places = (...args: Parameters<typeof engineEndpoints>) => engineEndpoints(...args).map(describeEndpoint);

describe('where an engine is looked for', () => {
  it('tries the sockets of Docker, then of Podman', () => {
    expect(places(auto, { XDG_RUNTIME_DIR: '/run/user/7', HOME: '/home/u' })).toEqual([
      '/var/run/docker.sock',
      '/run/user/7/docker.sock',
      '/home/u/.docker/run/docker.sock',
      '/run/user/7/podman/podman.sock',
      '/run/podman/podman.sock',
    ]);
  });

  it.each([
    ['docker', ['/var/run/docker.sock']],
    ['podman', ['/run/podman/podman.sock']],
  ] as const)('tries nothing but %s when told so', (engine, wanted) => {
    expect(places({ engine, socket: null }, {})).toEqual(wanted);
  });

  it.each([
    ['a named socket wins over the environment', { ...auto, socket: '/s' }, { DOCKER_HOST: 'tcp://h:1' }, '/s'],
    ['DOCKER_HOST is the only candidate', auto, { DOCKER_HOST: 'unix:///x.sock' }, '/x.sock'],
    ['a host without a port gets the usual one', auto, { DOCKER_HOST: 'tcp://h' }, 'tcp://h:2375'],
    ['TLS has another usual port', auto, { DOCKER_HOST: 'tcp://h', DOCKER_TLS_VERIFY: '1' }, 'tcp://h:2376'],
    ['credentials are not shown', auto, { DOCKER_HOST: 'tcp://u:secret@h:9' }, 'tcp://h:9'],
    ['Podman has a variable of its own', { engine: 'podman', socket: null }, { CONTAINER_HOST: 'unix:///p' }, '/p'],
  ] as const)('%s', (_, choice, env, wanted) => {
    expect(places(choice, env)).toEqual([wanted]);
  });

  it('refuses an address that it can not use, and names where it came from', () => {
    expect(() => engineEndpoints(auto, { DOCKER_HOST: 'ssh://host' })).toThrow(/^DOCKER_HOST is not an address/);
  });
});
