import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PinnedImage } from '../../../src/engine/ports/container-runtime.ts';
import {
  containerTestsEnabled,
  removeTestProject,
  testImage,
  testLabels,
  testProjectId,
  testRoomSpec,
  testRuntime,
} from '../../support/container.ts';
import { makeSource, must, sh, text } from '../../support/room.ts';

const CHILD = fileURLToPath(new URL('../../support/room-maker.ts', import.meta.url));
const TSX = createRequire(import.meta.url).resolve('tsx');

describe.skipIf(!containerTestsEnabled())('what a killed process left behind', () => {
  const runtime = testRuntime();
  const project = testProjectId();
  const other = testProjectId();
  const docker = new Docker();
  let image: PinnedImage;
  let source = '';
  const signal = () => AbortSignal.timeout(60_000);

  beforeAll(async () => {
    image = await testImage();
    source = await makeSource();
  });
  afterAll(async () => {
    await removeTestProject(runtime, project);
    await removeTestProject(runtime, other);
    runtime.close();
    await rm(source, { recursive: true, force: true });
  });

  it('is found by its labels, still holds the work, and can be removed; nothing of another project is', async () => {
    const foreign = must(await runtime.createRoom(testRoomSpec(other, image, source), signal()));
    const child = spawn(process.execPath, ['--import', TSX, CHILD, project, source, image.imageId], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const died = once(child, 'exit');
    await once(child.stdout, 'data'); // it has made a room, and works in it
    child.kill('SIGKILL');
    await died;

    const owned = must(await runtime.listOwned(project, signal()));
    expect(owned).toHaveLength(1);
    const [found] = owned;
    if (!found) throw new Error('unreachable: one was expected');
    expect(found.state).toBe('running');
    expect(found.labels).toEqual(testLabels(project, { ...found.labels, ownerId: 'S-1', kind: 'session' }));
    expect(found.labels.engineInstance).toBe(`test-${child.pid}`);
    expect(found.volumes.map((name) => name.split('-').at(-1))).toEqual(['home', 'temp', 'workspace']);

    const room = runtime.adopt(found);
    must(await room.pause());
    expect(await text(must(await room.exportWorkspace(signal())))).toContain('half done');
    must(await room.remove());
    must(await room.remove());
    expect(must(await runtime.listOwned(project, signal()))).toEqual([]);
    expect(must(await foreign.status()).state).toBe('running');
    expect(must(await runtime.listOwned(other, signal()))).toHaveLength(1);
    must(await foreign.remove());
  });

  it('is also found when only its volumes are left', async () => {
    const room = must(await runtime.createRoom(testRoomSpec(project, image, source), signal()));
    await docker.getContainer(room.containerId).remove({ force: true });
    const owned = must(await runtime.listOwned(project, signal()));
    expect(owned).toMatchObject([{ containerId: null, state: 'gone', volumes: [...room.volumes].sort() }]);
    for (const left of owned) {
      const adopted = runtime.adopt(left);
      expect(must(await adopted.status()).state).toBe('gone');
      const exported = await adopted.exportWorkspace(signal());
      expect(exported.ok ? 'exported' : exported.error.code).toBe('container_gone');
      must(await adopted.remove());
    }
    expect(must(await runtime.listOwned(project, signal()))).toEqual([]);
  });

  it('is told apart from things that only look like ours', async () => {
    const labels = { 'dev.roundtable.project': project, 'dev.roundtable.kind': 'holiday' };
    const name = `rt-lookalike-${process.pid}`;
    await docker.createVolume({ Name: name, Labels: labels });
    try {
      expect(must(await runtime.listOwned(project, signal()))).toEqual([]);
    } finally {
      await docker.getVolume(name).remove();
    }
  });
});

describe.skipIf(!containerTestsEnabled())('a volume of prepared dependencies', () => {
  const runtime = testRuntime();
  const project = testProjectId();
  const name = `rt-deps-${project}`;
  let image: PinnedImage;
  let source = '';
  const signal = () => AbortSignal.timeout(60_000);
  const labels = testLabels(project, { kind: 'prepare', ownerId: 'lock-1' });
  const roomWith = async (writable: boolean) => {
    const dependencies = { volume: name, dir: 'packages/app/node_modules', writable };
    return must(await runtime.createRoom(testRoomSpec(project, image, source, { dependencies }), signal()));
  };

  beforeAll(async () => {
    image = await testImage();
    source = await makeSource({
      'packages/app/index.js': '1\n',
      'packages/app/node_modules/committed.txt': 'in the way\n',
      'package.json': '{}\n',
    });
  });
  afterAll(async () => {
    await removeTestProject(runtime, project);
    runtime.close();
    await rm(source, { recursive: true, force: true });
  });

  it('counts only after its preparation was declared complete, and is read-only from then on', async () => {
    expect(must(await runtime.ensureDependencyVolume(name, labels, signal()))).toEqual({ created: true });
    const preparing = await roomWith(true);
    must(await preparing.seedWorkspace(signal()));
    const written = await sh(preparing, 'echo half > packages/app/node_modules/x && echo 1 > packages/app/beside.txt');
    expect(written).toMatchObject({ exitCode: 0, stderr: '' });
    must(await preparing.remove());

    // The process died before it could say that all is there: what is there does not count.
    expect(must(await runtime.ensureDependencyVolume(name, labels, signal()))).toEqual({ created: true });
    const again = await roomWith(true);
    expect((await sh(again, 'ls packages/app/node_modules')).stdout).toBe('');
    await sh(again, 'echo whole > packages/app/node_modules/x');
    must(await again.remove());
    must(await runtime.completeDependencyVolume(name, signal()));
    expect(must(await runtime.ensureDependencyVolume(name, labels, signal()))).toEqual({ created: false });

    const session = await roomWith(false);
    must(await session.seedWorkspace(signal()));
    expect((await sh(session, 'cat packages/app/node_modules/x')).stdout).toBe('whole\n');
    expect((await sh(session, 'echo y > packages/app/node_modules/x')).stderr).toMatch(/read-only/i);
    expect((await sh(session, 'git status --porcelain; git ls-files')).stdout).toBe(
      'package.json\npackages/app/index.js\n',
    );
    must(await session.remove());
  });

  it('is listed apart from rooms, and removed with its mark', async () => {
    expect(must(await runtime.listDependencyVolumes(project, signal()))).toEqual([name]);
    expect(must(await runtime.listDependencyVolumes(testProjectId(), signal()))).toEqual([]);
    expect(must(await runtime.listOwned(project, signal()))).toEqual([]);
    must(await runtime.removeVolume(name));
    must(await runtime.removeVolume(name));
    expect(must(await runtime.listDependencyVolumes(project, signal()))).toEqual([]);
    expect(must(await runtime.ensureDependencyVolume(name, labels, signal()))).toEqual({ created: true });
    must(await runtime.removeVolume(name));
  });

  it('does not count when only its mark survived', async () => {
    must(await runtime.ensureDependencyVolume(name, labels, signal()));
    must(await runtime.completeDependencyVolume(name, signal()));
    await new Docker().getVolume(name).remove();
    expect(must(await runtime.ensureDependencyVolume(name, labels, signal()))).toEqual({ created: true });
    must(await runtime.removeVolume(name));
  });

  it('is left alone when it belongs to somebody else', async () => {
    const docker = new Docker();
    await docker.createVolume({ Name: name, Labels: { mine: 'yes' } });
    try {
      const refused = await runtime.ensureDependencyVolume(name, labels, signal());
      expect(refused.ok ? 'taken' : refused.error.message).toMatch(/not of this project/);
    } finally {
      await docker.getVolume(name).remove();
    }
  });
});
