import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ContainerRuntime, ROOM_PATHS, type Room } from '../../src/engine/ports/container-runtime.ts';
import { systemDialer } from '../../src/sandbox/egress/system-dialer.ts';
import { bundleBridge } from '../support/bridge-bundle.ts';
import {
  containerTestsEnabled,
  removeTestProject,
  testImage,
  testProjectId,
  testRoomSpec,
  testRuntime,
} from '../support/container.ts';
import { openGateway, type RunningGateway, until } from '../support/egress-conversation.ts';
import { startTestTls, type TestTls } from '../support/test-tls.ts';

const HOST = 'registry.example';
const CA = `${ROOM_PATHS.source}/ca.pem`;
const CLIENT = `${ROOM_PATHS.source}/https-get.mjs`;

describe.skipIf(!containerTestsEnabled())('a sealed container', () => {
  const projectId = testProjectId();
  const signal = AbortSignal.timeout(110_000);
  let dir: string;
  let tls: TestTls;
  let gateway: RunningGateway;
  let runtime: ContainerRuntime;
  let room: Room;

  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'rt-egress-'));
    const [source, bridge, sockets, private_] = ['source', 'bridge', 'sockets', 'private'].map((name) =>
      path.join(dir, name),
    );
    if (!source || !bridge || !sockets || !private_) throw new Error('four names give four paths');
    for (const made of [source, bridge, sockets, private_]) await mkdir(made, { mode: 0o755 });
    tls = await startTestTls(private_, [HOST], await makeRegistry(private_));
    await copyFile(tls.caFile, path.join(source, 'ca.pem'));
    await copyFile(
      fileURLToPath(new URL('../fixtures/egress/https-get.mjs', import.meta.url)),
      path.join(source, 'https-get.mjs'),
    );
    await writeFile(
      path.join(source, 'package.json'),
      JSON.stringify({ name: 'demo', version: '1.0.0', dependencies: { tiny: '1.0.0' } }),
    );
    await bundleBridge(bridge);
    gateway = await openGateway(sockets, {
      allow: { hosts: [HOST], exceptions: { [HOST]: ['127.0.0.0/8'] } },
      resolver: async (_name, family) => (family === 4 ? ['127.0.0.1'] : []),
      dialer: (address, family, _port, stop) => systemDialer(address, family, tls.port, stop),
    });
    await chmod(sockets, 0o711);

    runtime = testRuntime();
    const spec = testRoomSpec(projectId, await testImage(), source, { bridgeDir: bridge, socketDir: sockets });
    const made = await runtime.createRoom(spec, signal);
    if (!made.ok) throw new Error(made.error.message);
    room = made.value;
    const seeded = await room.seedWorkspace(signal);
    if (!seeded.ok) throw new Error(seeded.error.message);
  }, 120_000);

  afterAll(async () => {
    if (runtime !== undefined) await removeTestProject(runtime, projectId);
    runtime?.close();
    await gateway?.close();
    await tls?.close();
    if (dir !== undefined) await rm(dir, { recursive: true, force: true });
  });

  async function inRoom(...argv: [string, ...string[]]) {
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: ROOM_PATHS.home };
    const started = await room.exec({ argv, env, cwd: ROOM_PATHS.workspace, stdin: null }, signal);
    if (!started.ok) throw new Error(started.error.message);
    const [stdout, stderr, done] = await Promise.all([
      text(started.value.stdout),
      text(started.value.stderr),
      started.value.done,
    ]);
    return { stdout, stderr, exitCode: done.ok ? done.value.exitCode : null };
  }

  function behindBridge(...command: string[]) {
    const socket = `${ROOM_PATHS.sockets}/${path.basename(gateway.socketPath)}`;
    return inRoom('node', `${ROOM_PATHS.bridge}/bridge.mjs`, 'proxy', '--socket', socket, '--', ...command);
  }

  it('has no way out but the bridge', async () => {
    const direct = await inRoom('node', CLIENT, 'direct', `https://${HOST}/`, CA);
    expect(JSON.parse(direct.stdout).error).toMatch(/ENOTFOUND|EAI_AGAIN/);
    const script = `require('net').connect(${tls.port}, '127.0.0.1').on('error', e => { console.log(e.code) }).on('connect', () => console.log('open'))`;
    expect((await inRoom('node', '-e', script)).stdout).toBe('ECONNREFUSED\n');
    const outside = script.replace('127.0.0.1', '1.1.1.1');
    expect((await inRoom('node', '-e', outside)).stdout).toBe('ENETUNREACH\n');
    expect(tls.requests).toEqual([]);
  });

  it('reaches the configured host through the bridge', async () => {
    const { stdout, exitCode } = await behindBridge('node', CLIENT, 'proxied', `https://${HOST}/`, CA);
    expect(JSON.parse(stdout)).toEqual({ status: 200, body: 'hello from the test provider\n' });
    expect(exitCode).toBe(0);
    expect(await until(() => gateway.decisions.length === 1, 5_000)).toBe(true);
    expect(gateway.decisions[0]).toMatchObject({ host: HOST, sni: HOST, verdict: 'allowed', ended: 'finished' });
  });

  it('is refused every other host', async () => {
    const { stdout } = await behindBridge('node', CLIENT, 'proxied', 'https://elsewhere.example/', CA);
    expect(JSON.parse(stdout)).toEqual({ refused: 403, rule: 'host-not-allowed' });
  });

  it('installs packages with npm from the configured registry', async () => {
    const options = ['--registry', `https://${HOST}/`, '--cafile', CA, '--ignore-scripts', '--no-audit', '--no-fund'];
    const { stdout, stderr, exitCode } = await behindBridge('npm', 'install', ...options);
    expect(exitCode, `${stdout}\n${stderr}`).toBe(0);
    const { stdout: installed } = await inRoom('node', '-p', `require('tiny')`);
    expect(installed).toBe('forty-two\n');
  });
});

/** The two answers that npm needs to install the package `tiny`. */
async function makeRegistry(dir: string): Promise<Record<string, Buffer | string>> {
  const root = path.join(dir, 'package');
  await mkdir(root);
  const manifest = { name: 'tiny', version: '1.0.0', main: 'index.js' };
  await writeFile(path.join(root, 'package.json'), JSON.stringify(manifest));
  await writeFile(path.join(root, 'index.js'), `module.exports = 'forty-two';\n`);
  execFileSync('tar', ['-czf', 'tiny.tgz', 'package'], { cwd: dir });
  const tarball = await readFile(path.join(dir, 'tiny.tgz'));
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const dist = { tarball: `https://${HOST}/tiny/-/tiny-1.0.0.tgz`, integrity };
  const packument = { name: 'tiny', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': { ...manifest, dist } } };
  return { '/tiny': JSON.stringify(packument), '/tiny/-/tiny-1.0.0.tgz': tarball };
}
