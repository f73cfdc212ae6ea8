import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { EgressAllowance, EgressLimits } from '../../src/engine/ports/egress-gateway.ts';
import { createEgressGateways } from '../../src/sandbox/egress/egress-gateways.ts';
import { systemDialer } from '../../src/sandbox/egress/system-dialer.ts';
import { bundleBridge } from '../support/bridge-bundle.ts';
import { answersIn, connectClient, openGateway, type RunningGateway, until } from '../support/egress-conversation.ts';
import { startTestTls, type TestTls } from '../support/test-tls.ts';

const run = promisify(execFile);
const client = fileURLToPath(new URL('../fixtures/egress/https-get.mjs', import.meta.url));
const HOST = 'provider.example';

let shared: string;
let dir: string;
let tls: TestTls;
let bridge: string;
let gateway: RunningGateway;
let lookups: string[];

beforeAll(async () => {
  shared = await mkdtemp(path.join(tmpdir(), 'rt-egress-'));
  tls = await startTestTls(shared, [HOST, 'other.example']);
  bridge = await bundleBridge(shared);
});
afterAll(async () => {
  await tls.close();
  await rm(shared, { recursive: true, force: true });
});
beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'rt-egress-'));
  tls.requests.length = 0;
});
afterEach(async () => {
  await gateway?.close();
  await rm(dir, { recursive: true, force: true });
});

/** The names lead to loopback, which only the documented exception opens; the port alone is redirected. */
async function open(limits: Partial<EgressLimits> = {}, allow: EgressAllowance = loopbackAllowed): Promise<void> {
  lookups = [];
  gateway = await openGateway(dir, {
    allow,
    limits,
    resolver: async (name, family) => {
      if (family === 4) lookups.push(name);
      return family === 4 ? ['127.0.0.1'] : [];
    },
    dialer: (address, family, port, signal) => {
      expect(port).toBe(443);
      return systemDialer(address, family, tls.port, signal);
    },
  });
}

const loopbackAllowed: EgressAllowance = { hosts: [HOST], exceptions: { [HOST]: ['127.0.0.0/8'] } };

function behindBridge(...command: string[]) {
  return run(process.execPath, [bridge, 'proxy', '--socket', gateway.socketPath, '--', ...command], {
    timeout: 30_000,
  });
}

async function decided(count: number) {
  expect(await until(() => gateway.decisions.length >= count, 5_000), 'decision records in time').toBe(true);
  return gateway.decisions;
}

describe('a real client behind the bridge', () => {
  it('curl reaches the configured host', async () => {
    await open();
    const { stdout } = await behindBridge('curl', '-sS', '--cacert', tls.caFile, `https://${HOST}/`);
    expect(stdout).toBe('hello from the test provider\n');
    const [decision] = await decided(1);
    expect(decision).toMatchObject({
      host: HOST,
      port: 443,
      address: '127.0.0.1',
      sni: HOST,
      verdict: 'allowed',
      rule: 'configured-host',
      ended: 'finished',
    });
    expect(decision?.bytesUp).toBeGreaterThan(300);
    expect(decision?.bytesDown).toBeGreaterThan(500);
  });

  it('node reaches the configured host', async () => {
    await open();
    const { stdout } = await behindBridge(process.execPath, client, 'proxied', `https://${HOST}/`, tls.caFile);
    expect(JSON.parse(stdout)).toEqual({ status: 200, body: 'hello from the test provider\n' });
  });

  it('gets a large download and sends a large upload unharmed', async () => {
    await open();
    const curl = ['curl', '-sS', '--cacert', tls.caFile];
    const down = await behindBridge(...curl, '-o', path.join(dir, 'big'), `https://${HOST}/big`);
    expect(down.stderr).toBe('');
    const received = await readFile(path.join(dir, 'big'));
    expect(received.equals(Buffer.alloc(8 * 1024 * 1024, 'x'))).toBe(true);
    const up = await behindBridge(...curl, '--data-binary', `@${path.join(dir, 'big')}`, `https://${HOST}/`);
    expect(up.stdout).toBe(`received ${8 * 1024 * 1024}`);
  });

  it('is told which rule refused another host, and that host is never looked up', async () => {
    await open();
    const { stdout } = await behindBridge(process.execPath, client, 'proxied', 'https://other.example/', tls.caFile);
    expect(JSON.parse(stdout)).toEqual({ refused: 403, rule: 'host-not-allowed' });
    expect(lookups).toEqual([]);
    expect(tls.requests).toEqual([]);
    expect(await decided(1)).toMatchObject([
      {
        host: 'other.example',
        port: 443,
        address: null,
        sni: null,
        verdict: 'refused',
        rule: 'host-not-allowed',
        bytesUp: 0,
      },
    ]);
  });

  it('does not reach loopback without the exception', async () => {
    await open({}, { hosts: [HOST] });
    const { stdout } = await behindBridge(process.execPath, client, 'proxied', `https://${HOST}/`, tls.caFile);
    expect(JSON.parse(stdout)).toEqual({ refused: 403, rule: 'address-refused' });
    expect(await decided(1)).toMatchObject([{ host: HOST, address: '127.0.0.1', rule: 'address-refused' }]);
    expect(tls.requests).toEqual([]);
  });

  it('cannot name another host inside the tunnel', async () => {
    await open();
    const curl = ['curl', '-sS', '--cacert', tls.caFile, '--connect-to', `other.example:443:${HOST}:443`];
    await expect(behindBridge(...curl, 'https://other.example/')).rejects.toMatchObject({ code: 35 });
    expect(await decided(1)).toMatchObject([{ host: HOST, sni: 'other.example', rule: 'sni-mismatch', bytesUp: 0 }]);
    expect(tls.requests).toEqual([]);
  });
});

describe('the bridge', () => {
  it('exits with the status of the command and passes arguments unchanged', async () => {
    await open();
    const script =
      'process.stdout.write(JSON.stringify([process.argv.slice(1), process.env.NO_PROXY])); process.exit(7)';
    const failed = behindBridge(process.execPath, '-e', script, '--', 'a b', '$(id)', '');
    await expect(failed).rejects.toMatchObject({ code: 7, stdout: JSON.stringify([['a b', '$(id)', ''], '']) });
  });

  it('answers 127 for a command that does not exist and 64 for a wrong command line', async () => {
    await open();
    await expect(behindBridge('/no/such/command')).rejects.toMatchObject({ code: 127 });
    await expect(run(process.execPath, [bridge, 'proxy', '--', 'true'])).rejects.toMatchObject({ code: 64 });
  });

  it('forwards a signal to the command and reports it', async () => {
    await open();
    const portFile = path.join(dir, 'port');
    const script = `process.on('SIGTERM', () => process.exit(3)); process.stdout.write('ready'); setInterval(() => {}, 1000)`;
    const options = ['proxy', '--socket', gateway.socketPath, '--port-file', portFile];
    const child = spawn(process.execPath, [bridge, ...options, '--', process.execPath, '-e', script]);
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    expect(await until(() => output === 'ready', 10_000)).toBe(true);
    expect(Number(await readFile(portFile, 'utf8'))).toBeGreaterThan(0);
    child.kill('SIGTERM');
    const status = await new Promise((resolve) => child.once('exit', resolve));
    expect(status).toBe(3);
  });

  it('answers 502 when nobody listens on the socket', async () => {
    await open();
    await gateway.close();
    const { stdout } = await behindBridge(process.execPath, client, 'proxied', `https://${HOST}/`, tls.caFile);
    expect(JSON.parse(stdout)).toEqual({ refused: 502, rule: 'gateway-closed' });
  });
});

describe('the gateway', () => {
  it('refuses connections beyond its cap cleanly, and serves again when some are gone', async () => {
    await open({ connections: 8 });
    const clients = await Promise.all(Array.from({ length: 208 }, () => connectClient(gateway.socketPath)));
    const refused = () => clients.filter((each) => answersIn(each.received()).status === 503);
    expect(await until(() => refused().length === 200, 10_000), `${refused().length} refused`).toBe(true);
    expect(await until(() => refused().every((each) => each.isOver()), 10_000)).toBe(true);
    expect(gateway.decisions.filter(({ rule }) => rule === 'connection-limit')).toHaveLength(200);
    for (const each of clients) each.socket.destroy();
    expect(await until(() => gateway.decisions.length === 208, 10_000)).toBe(true);
    const { stdout } = await behindBridge('curl', '-sS', '--cacert', tls.caFile, `https://${HOST}/`);
    expect(stdout).toBe('hello from the test provider\n');
  });

  it('lets a refused client finish sending, so that it can read its answer', async () => {
    await open();
    const refused = await connectClient(gateway.socketPath);
    const errors: Error[] = [];
    refused.socket.on('error', (error) => errors.push(error));
    refused.socket.write('GET / HTTP/1.1\r\n');
    for (let count = 0; count < 25; count += 1) {
      await new Promise((resolve) => refused.socket.write(Buffer.alloc(10_000, 'x'), resolve));
    }
    expect(await until(() => refused.isOver(), 5_000)).toBe(true);
    expect(answersIn(refused.received())).toEqual({ status: 405, count: 1 });
    expect(errors).toEqual([]);
  });

  it('cuts open relays at once when it is closed, and removes its socket', async () => {
    await open();
    const curl = behindBridge('curl', '-sSN', '--cacert', tls.caFile, `https://${HOST}/hang`).catch(
      (error: unknown) => error,
    );
    expect(await until(() => tls.requests.length === 1, 10_000)).toBe(true);
    const startedMs = performance.now();
    await gateway.close();
    expect(performance.now() - startedMs).toBeLessThan(500);
    // curl: transfer closed with outstanding data, or reset.
    expect(await curl).toMatchObject({ code: expect.toSatisfy((code) => [18, 52, 56].includes(code)) });
    expect(gateway.decisions).toMatchObject([{ verdict: 'allowed', ended: 'gateway-closed', host: HOST }]);
    await expect(stat(gateway.socketPath)).rejects.toMatchObject({ code: 'ENOENT' });
    await gateway.close();
  });

  it('cuts the tunnels of a withdrawn host at once and goes on serving the others', async () => {
    const both = [HOST, 'other.example'];
    const exceptions = Object.fromEntries(both.map((host) => [host, ['127.0.0.0/8']]));
    await open({}, { hosts: both, exceptions });
    const hanging = (host: string) =>
      behindBridge('curl', '-sSN', '--cacert', tls.caFile, `https://${host}/hang`).catch((error: unknown) => error);
    const [withdrawn, kept] = both.map(hanging);
    expect(await until(() => tls.requests.length === 2, 10_000)).toBe(true);
    expect(gateway.replaceAllowance({ hosts: ['*'] })).toMatchObject({
      ok: false,
      error: { code: 'egress_host_invalid' },
    });
    expect(
      gateway.replaceAllowance({ hosts: ['other.example'], exceptions: { 'other.example': ['127.0.0.0/8'] } }),
    ).toMatchObject({ ok: true });
    expect(await withdrawn).toMatchObject({ code: expect.toSatisfy((code) => [18, 52, 56].includes(code)) });
    expect(gateway.decisions).toMatchObject([{ host: HOST, verdict: 'allowed', ended: 'withdrawn' }]);
    const refused = await behindBridge(process.execPath, client, 'proxied', `https://${HOST}/`, tls.caFile);
    expect(JSON.parse(refused.stdout)).toEqual({ refused: 403, rule: 'host-not-allowed' });
    const served = await behindBridge(process.execPath, client, 'proxied', 'https://other.example/', tls.caFile);
    expect(JSON.parse(served.stdout)).toMatchObject({ status: 200 });
    await gateway.close();
    await kept;
    expect(gateway.decisions.at(-1)).toMatchObject({ host: 'other.example', ended: 'gateway-closed' });
  });

  it('closes when its signal aborts, and when a decision cannot be recorded', async () => {
    const gateways = createEgressGateways({
      resolver: async () => [],
      dialer: systemDialer,
      now: () => performance.now(),
    });
    const abort = new AbortController();
    const options = { socketPath: path.join(dir, 'own'), allow: { hosts: [] } };
    const first = await gateways.open({ ...options, onDecision: () => {}, signal: abort.signal });
    if (!first.ok) throw new Error(first.error.code);
    abort.abort();
    expect(await first.value.closed).toEqual({ failure: null });

    const failure = new Error('the disk is full');
    const second = await gateways.open({
      ...options,
      onDecision: () => {
        throw failure;
      },
    });
    if (!second.ok) throw new Error(second.error.code);
    const socket = connect(second.value.socketPath);
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\n\r\n');
    expect(await second.value.closed).toEqual({ failure });
    socket.destroy();
  });

  it('says why it cannot open', async () => {
    const gateways = createEgressGateways({
      resolver: async () => [],
      dialer: systemDialer,
      now: () => performance.now(),
    });
    const openAt = (socketPath: string, allow: EgressAllowance = { hosts: [] }) =>
      gateways.open({ socketPath, allow, onDecision: () => {} });
    const long = path.join(dir, 'x'.repeat(100 - dir.length));
    expect(Buffer.byteLength(long)).toBe(101);
    expect(await openAt(long)).toMatchObject({ ok: false, error: { code: 'socket_path_too_long', bytes: 101 } });
    const fits = await openAt(long.slice(0, 100));
    expect(fits.ok && (await stat(long.slice(0, 100))).mode & 0o777).toBe(0o666);
    expect(await openAt(long.slice(0, 100))).toMatchObject({
      ok: false,
      error: { code: 'socket_unusable', cause: 'EADDRINUSE' },
    });
    if (fits.ok) await fits.value.close();
    expect(await openAt(path.join(dir, 'no/such'))).toMatchObject({ ok: false, error: { code: 'socket_unusable' } });
    expect(await openAt(path.join(dir, 's'), { hosts: ['*.example.com'] })).toMatchObject({
      ok: false,
      error: { code: 'egress_host_invalid', host: '*.example.com' },
    });
  });

  it('ends an idle tunnel and one that used up the byte budget', async () => {
    await open({ idleTimeoutMs: 300 });
    await behindBridge('curl', '-sSN', '--cacert', tls.caFile, `https://${HOST}/hang`).catch(() => {});
    expect(await decided(1)).toMatchObject([{ verdict: 'allowed', ended: 'idle' }]);
    await gateway.close();

    await open({ totalBytes: 1024 * 1024 });
    await expect(
      behindBridge('curl', '-sS', '-o', '/dev/null', '--cacert', tls.caFile, `https://${HOST}/big`),
    ).rejects.toThrow();
    expect(await decided(1)).toMatchObject([{ verdict: 'allowed', ended: 'byte-limit' }]);
    const [first] = gateway.decisions;
    expect((first?.bytesUp ?? 0) + (first?.bytesDown ?? 0)).toBeLessThanOrEqual(1024 * 1024);
    const { stdout } = await behindBridge(process.execPath, client, 'proxied', `https://${HOST}/`, tls.caFile);
    expect(JSON.parse(stdout)).toEqual({ refused: 403, rule: 'byte-limit' });
  });
});
