import { describe, expect, it } from 'vitest';
import { parseBridgeArguments } from '../../../../src/sandbox/bridge/arguments.ts';
import { proxyEnvironment } from '../../../../src/sandbox/bridge/run-proxy.ts';

describe('the command line of the bridge', () => {
  it('takes everything after -- as the command', () => {
    expect(
      parseBridgeArguments([
        'proxy',
        '--socket',
        '/s',
        '--port',
        '7000',
        '--port-file',
        '/p',
        '--',
        'npm',
        'ci',
        '--',
        '-x',
      ]),
    ).toEqual({
      ok: true,
      value: {
        subcommand: 'proxy',
        socketPath: '/s',
        port: 7000,
        portFile: '/p',
        command: 'npm',
        args: ['ci', '--', '-x'],
      },
    });
  });

  it.each([
    [[], 'no subcommand'],
    [['mcp'], 'unknown subcommand mcp'],
    [['proxy', '--socket', '/s'], 'no command after --'],
    [['proxy', '--socket', '/s', '--'], 'no command after --'],
    [['proxy', '--', 'true'], '--socket is missing'],
    [['proxy', '--socket', '--', 'true'], '--socket needs a value'],
    [['proxy', '--socket', '/s', '--port', '65536', '--', 'true'], '--port is no port: 65536'],
    [['proxy', '--sock', '/s', '--', 'true'], 'unknown option --sock'],
  ])('refuses %j', (argv, error) => {
    expect(parseBridgeArguments(argv)).toEqual({ ok: false, error });
  });
});

describe('the environment of the command', () => {
  it('names the loopback proxy for HTTPS and nothing else', () => {
    const inherited = { PATH: '/bin', HTTP_PROXY: 'x', all_proxy: 'y', No_Proxy: 'z', https_proxy: 'old' };
    expect(proxyEnvironment(inherited, 7000)).toEqual({
      PATH: '/bin',
      HTTPS_PROXY: 'http://127.0.0.1:7000',
      https_proxy: 'http://127.0.0.1:7000',
      NO_PROXY: '',
      no_proxy: '',
    });
  });
});
