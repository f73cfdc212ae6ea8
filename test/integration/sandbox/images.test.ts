import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PinnedImage } from '../../../src/engine/ports/container-runtime.ts';
import { connectEngine, type EngineConnection } from '../../../src/sandbox/containers/engine-connection.ts';
import { buildLocalImage } from '../../../src/sandbox/images/build-local-image.ts';
import { checkImageContract, type ImageNeeds } from '../../../src/sandbox/images/check-image-contract.ts';
import { collectPieces } from '../../../src/sandbox/images/collect-pieces.ts';
import type { ImageEntry, ImagePieces } from '../../../src/sandbox/images/image-entry.ts';
import { layerStream } from '../../../src/sandbox/images/layer.ts';
import {
  containerTestsEnabled,
  removeTestProject,
  TEST_ENGINE,
  testImage,
  testLabels,
  testProjectId,
  testRoomSpec,
  testRuntime,
} from '../../support/container.ts';
import { makeSource, must, run, sh } from '../../support/room.ts';

const BARE: ImagePieces = { node: false, npm: false, git: false };

describe.skipIf(!containerTestsEnabled())('images made from this machine', () => {
  const runtime = testRuntime();
  const project = testProjectId();
  const made = new Set<string>();
  let engine: EngineConnection;
  let source = '';
  let dir = '';
  const signal = () => AbortSignal.timeout(60_000);
  const recipe = `test-${project.slice(5, 13)}`;
  const build = async (pieces: ImagePieces, reuse = false): Promise<PinnedImage> => {
    const { imageId, sizeBytes } = must(await buildLocalImage({ engine, pieces, recipe, reuse }));
    made.add(imageId);
    return { reference: imageId, imageId, sizeBytes };
  };
  const check = async (image: PinnedImage, needs: Partial<ImageNeeds>) => {
    const labels = testLabels(project, { kind: 'probe', ownerId: 'image-check' });
    const wanted = { node: false, git: false, command: null, ...needs };
    const common = { seccompProfile: null, allowUnboundedVolumes: false, signal: signal() };
    const checked = await checkImageContract({ runtime, image, needs: wanted, labels, ...common });
    expect(must(await runtime.listOwned(project, signal()))).toEqual([]);
    return checked.ok ? checked.value : checked.error;
  };

  beforeAll(async () => {
    engine = await connectEngine(TEST_ENGINE);
    source = await makeSource({
      'package.json': JSON.stringify({ name: 'x', version: '1.0.0', scripts: { test: 'node --test' } }),
      'a.test.js': "require('node:test')('adds', () => require('node:assert').equal(1 + 1, 2));\n",
    });
    dir = await mkdtemp(path.join(os.tmpdir(), 'rt-'));
  });
  afterAll(async () => {
    await removeTestProject(runtime, project);
    for (const id of made) await engine.docker.getImage(id).remove({ force: true });
    engine.close();
    runtime.close();
    await rm(source, { recursive: true, force: true });
    await rm(dir, { recursive: true, force: true });
  });

  it('run node, npm test and git without a network', async () => {
    const room = must(await runtime.createRoom(testRoomSpec(project, await testImage(), source), signal()));
    must(await room.seedWorkspace(signal()));
    const tested = await run(room, ['npm', 'test']);
    expect(`${tested.stdout}${tested.stderr}`).toMatch(/# pass 1/);
    expect(tested.exitCode).toBe(0);
    const lock = await run(room, ['npm', 'install', '--package-lock-only', '--no-audit', '--no-fund', '--offline']);
    expect(lock.exitCode).toBe(0);
    expect((await run(room, ['npm', 'ci', '--no-audit', '--no-fund', '--offline'])).exitCode).toBe(0);
    expect((await sh(room, 'echo more >> a.test.js && git commit -qam more && git log --oneline | wc -l')).stdout).toBe(
      '2\n',
    );
    must(await room.remove());
  });

  it('have layers that depend on nothing but their pieces', async () => {
    const [one, two] = [await build(BARE), await build(BARE)];
    const layers = async (image: PinnedImage) => (await engine.docker.getImage(image.imageId).inspect()).RootFS.Layers;
    expect(await layers(one)).toHaveLength(1);
    expect(await layers(one)).toEqual(await layers(two));
    expect(one.sizeBytes).toBeLessThan(4_000_000);
    expect([one.imageId, two.imageId]).toContain((await build(BARE, true)).imageId);
  });

  it('carry extra programs and links', async () => {
    await writeFile(path.join(dir, 'tool.sh'), '#!/bin/sh\necho "tool says $1"\n', { mode: 0o755 });
    const copies = { [dir]: '/opt/tool' };
    const image = await build({ ...BARE, copies, links: { '/usr/local/bin/tool': '../../../opt/tool/tool.sh' } });
    const room = must(await runtime.createRoom(testRoomSpec(project, image, source), signal()));
    expect((await run(room, ['tool', 'hi'])).stdout).toBe('tool says hi\n');
    // No git: no repository, and no failure either.
    must(await room.seedWorkspace(signal()));
    expect((await sh(room, 'ls -A')).stdout).toBe('a.test.js\npackage.json\n');
    must(await room.remove());
  });

  it('name the piece that is missing', async () => {
    const copies = { [path.join(dir, 'absent')]: '/opt/absent' };
    const built = await buildLocalImage({ engine, pieces: { ...BARE, copies }, recipe, reuse: false });
    expect(built).toMatchObject({ ok: false, error: { code: 'image_piece_missing', piece: path.join(dir, 'absent') } });
  });

  it('fulfil the contract when everything is there', async () => {
    const facts = await check(await testImage(), { node: true, git: true, command: 'npm' });
    expect(facts).toMatchObject({ nodeVersion: process.version, gitVersion: expect.stringMatching(/^git version /) });
  });

  it('are told everything they lack at once, with remedies', async () => {
    const image = await build(BARE, true);
    expect(await check(image, {})).toMatchObject({ nodeVersion: null, gitVersion: null });
    const error = await check(image, { node: true, git: true, command: 'codex' });
    expect(error).toMatchObject({
      code: 'image_contract',
      message: expect.stringMatching(/Node 18 or newer, git, the program codex$/),
      remedy: expect.stringMatching(/install Node.*install git.*install codex.*image build/),
    });
  });

  it('are refused with an old Node, and without a shell', async () => {
    const old = path.join(dir, 'node');
    await writeFile(old, '#!/bin/sh\necho v16.20.2\n', { mode: 0o755 });
    const image = await build({ ...BARE, copies: { [old]: '/usr/local/bin/node' } });
    expect(await check(image, { node: true })).toMatchObject({
      code: 'image_contract',
      message: expect.stringContaining('it has v16.20.2'),
    });
    const noShell = await importEntries([
      { kind: 'text', path: '/etc/motd', text: 'no shell here', executable: false },
    ]);
    const badShell = await importEntries([{ kind: 'copy', path: '/bin/sh', hostPath: '/bin/true', executable: true }]);
    for (const image of [noShell, badShell]) {
      const wanted = { code: 'image_contract', message: expect.stringContaining('a POSIX sh in PATH') };
      expect(await check(image, {})).toMatchObject(wanted);
    }
  });

  it('give a room no groups, variables, volumes or health checks of their own', async () => {
    const groups = 'root:x:0:agent\nwheel:x:10:agent,nobody\nagent:x:1000:\n';
    const entries = (await collectPieces(BARE)).map((entry) =>
      entry.path === '/etc/group' && entry.kind === 'text' ? { ...entry, text: groups } : entry,
    );
    const image = await importEntries(entries, [
      'ENV LD_PRELOAD=/evil.so NODE_OPTIONS=--inspect PATH=/evil',
      'VOLUME ["/data", "/tmp/cache"]',
      'HEALTHCHECK CMD touch /tmp/checked',
      'ENTRYPOINT ["/evil"]',
      'USER root',
    ]);
    const room = must(await runtime.createRoom(testRoomSpec(project, image, source), signal()));
    expect((await run(room, ['id'])).stdout).toBe('uid=1000(agent) gid=1000(agent) groups=1000(agent)\n');
    expect((await run(room, ['grep', '^Groups', '/proc/1/status'])).stdout.trim()).toMatch(/^Groups:\s*(65534)?$/);
    const { stdout } = await run(room, ['env']);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split('=')[0])
        .sort(),
    ).toEqual(['HOME', 'HOSTNAME', 'LANG', 'PATH']);
    for (const dir of ['/data', '/tmp/cache']) expect((await run(room, ['touch', `${dir}/x`])).exitCode).not.toBe(0);
    const { Mounts, Config } = await engine.docker.getContainer(room.containerId).inspect();
    expect(Mounts.filter((mount) => mount.Type === 'volume')).toHaveLength(3);
    expect(Config.Healthcheck?.Test).toEqual(['NONE']);
    must(await room.remove());
  });

  async function importEntries(entries: readonly ImageEntry[], changes: string[] = []): Promise<PinnedImage> {
    const answer = await engine.docker.importImage(layerStream(entries), { changes });
    let lines = '';
    for await (const chunk of answer) lines += String(chunk);
    const imageId = /sha256:[0-9a-f]{64}/.exec(lines)?.[0] ?? '';
    made.add(imageId);
    return { reference: imageId, imageId, sizeBytes: 0 };
  }
});
