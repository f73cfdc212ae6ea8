import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContainerRuntime } from '../../../src/sandbox/containers/create-container-runtime.ts';
import type { EngineOptions } from '../../../src/sandbox/containers/engine-connection.ts';
import { containerTestsEnabled, testProjectId } from '../../support/container.ts';

const NONE: EngineOptions = { engine: 'auto', socket: null, ociRuntime: null, env: {} };
const signal = () => AbortSignal.timeout(30_000);

describe('without a usable engine', () => {
  let dir = '';
  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'rt-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  it.each([
    ['a socket that is not there', { DOCKER_HOST: 'unix:///nonexistent/docker.sock' }, '/nonexistent/docker.sock'],
    ['a port where nobody listens', { DOCKER_HOST: 'tcp://127.0.0.1:1' }, 'tcp://127.0.0.1:1'],
  ])('answers engine_unavailable with a remedy for %s', async (_, env, place) => {
    const runtime = createContainerRuntime({ ...NONE, env });
    for (const answer of [await runtime.info(signal()), await runtime.listOwned(testProjectId(), signal())]) {
      expect(answer).toMatchObject({
        ok: false,
        error: {
          code: 'engine_unavailable',
          message: expect.stringContaining(place),
          remedy: expect.stringMatching(/start Docker or Podman|DOCKER_HOST/),
        },
      });
    }
    runtime.close();
  });

  it('refuses a mutable tag before it looks for an engine', async () => {
    const runtime = createContainerRuntime({ ...NONE, socket: '/nonexistent.sock' });
    const answer = await runtime.resolveImage('node:latest', signal());
    expect(answer).toMatchObject({ ok: false, error: { code: 'image_not_pinned' } });
  });

  it('answers engine_unavailable when something else listens there', async () => {
    const socket = path.join(dir, 'other.sock');
    const server = createServer((_, response) => response.writeHead(404).end('no')).listen(socket);
    await once(server, 'listening');
    const answer = await createContainerRuntime({ ...NONE, socket }).info(signal());
    expect(answer.ok ? 'found' : answer.error.code).toBe('engine_unavailable');
    server.close();
  });

  it.skipIf(!containerTestsEnabled())('finds an engine that was started later', async () => {
    const socket = path.join(dir, 'late.sock');
    const runtime = createContainerRuntime({ ...NONE, socket });
    expect((await runtime.info(signal())).ok).toBe(false);
    // Stands for an engine that comes up: passes the two questions on to the real one.
    const { request } = await import('node:http');
    const server = createServer((incoming, response) => {
      const real = request({ socketPath: '/var/run/docker.sock', path: incoming.url, method: incoming.method });
      real.on('response', (answer) => answer.pipe(response)).end();
    }).listen(socket);
    await once(server, 'listening');
    expect(await runtime.info(signal())).toMatchObject({ ok: true, value: { endpoint: socket } });
    runtime.close();
    server.close();
  });

  it.skipIf(!containerTestsEnabled())('refuses an OCI runtime that the engine does not have', async () => {
    const runtime = createContainerRuntime({ ...NONE, env: process.env, ociRuntime: 'no-such-runtime' });
    expect(await runtime.info(signal())).toMatchObject({
      ok: false,
      error: { code: 'oci_runtime_missing', message: expect.stringContaining('no-such-runtime') },
    });
  });
});
