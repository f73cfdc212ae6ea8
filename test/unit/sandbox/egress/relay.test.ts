import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createByteBudget } from '../../../../src/sandbox/egress/budget.ts';
import { type RelayOptions, relay } from '../../../../src/sandbox/egress/relay.ts';
import { until } from '../../../support/egress-conversation.ts';

/** Both ends of two real connections: `client — near` and `far — server`; the relay joins `near` and `far`. */
interface Pairs {
  client: Socket;
  near: Socket;
  far: Socket;
  server: Socket;
}

let dir: string;
let listener: Server;
let pairs: Pairs;
let bytes: { up: number; down: number };

beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'rt-egress-'));
  listener = createServer({ allowHalfOpen: true });
  listener.listen(path.join(dir, 's'));
  await once(listener, 'listening');
  const [client, near] = await connectPair();
  const [far, server] = await connectPair();
  pairs = { client, near, far, server };
  bytes = { up: 0, down: 0 };
});
afterEach(async () => {
  for (const socket of Object.values(pairs)) socket.destroy();
  listener.close();
  await rm(dir, { recursive: true, force: true });
});

async function connectPair(): Promise<[Socket, Socket]> {
  const accepted = once(listener, 'connection');
  const socket = connect({ path: path.join(dir, 's'), allowHalfOpen: true });
  const [peer] = (await accepted) as [Socket];
  for (const each of [socket, peer]) each.on('error', () => {});
  return [socket, peer];
}

/** Everything up to the peer's end; unlike the stream consumers it leaves the other direction open. */
async function readToEnd(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'end');
  return Buffer.concat(chunks);
}

function start(options: Partial<RelayOptions> = {}, first: Buffer[] = []) {
  pairs.near.pause();
  return relay(pairs.near, pairs.far, first, {
    idleTimeoutMs: 10_000,
    budget: createByteBudget(null, null),
    now: () => performance.now(),
    signal: new AbortController().signal,
    onBytes: (direction, count) => {
      bytes[direction] += count;
    },
    ...options,
  });
}

describe('the relay', () => {
  it('passes on what was read before, then the rest, and each end by itself', async () => {
    const ended = start({}, [Buffer.from('first '), Buffer.from('second ')]);
    pairs.client.end('third');
    expect((await readToEnd(pairs.server)).toString()).toBe('first second third');
    expect(pairs.client.readableEnded).toBe(false);
    pairs.server.end('the answer after the half-close');
    expect((await readToEnd(pairs.client)).toString()).toBe('the answer after the half-close');
    expect(await ended).toBe('finished');
    expect(bytes).toEqual({ up: 18, down: 31 });
  });

  it('works when a side had ended before it started', async () => {
    pairs.server.end();
    pairs.client.end();
    pairs.near.resume();
    pairs.far.resume();
    await Promise.all([once(pairs.near, 'end'), once(pairs.far, 'end')]);
    const ended = start({}, [Buffer.from('hello')]);
    expect((await readToEnd(pairs.server)).toString()).toBe('hello');
    expect(await ended).toBe('finished');
  });

  it('stops reading when the other side does not read', async () => {
    const ended = start();
    const chunk = Buffer.alloc(256 * 1024, 1);
    let writes = 0;
    // The sender writes as long as it may; without back-pressure that would be for ever.
    const isFull = () => {
      while (writes < 2_000 && pairs.client.write(chunk)) writes += 1;
      return pairs.client.writableNeedDrain;
    };
    let steadyAtMs = performance.now();
    let seen = -1;
    await until(() => {
      if (!isFull() || bytes.up !== seen) steadyAtMs = performance.now();
      seen = bytes.up;
      return performance.now() - steadyAtMs > 200;
    }, 10_000);
    expect(writes).toBeLessThan(40);
    expect(bytes.up).toBeLessThan(4 * 1024 * 1024);
    expect(pairs.far.writableLength).toBeLessThan(512 * 1024);

    pairs.client.end();
    const received = await readToEnd(pairs.server);
    expect(received.length).toBe(pairs.client.bytesWritten);
    pairs.server.end();
    pairs.client.resume();
    expect(await ended).toBe('finished');
    expect(bytes.up).toBe(pairs.client.bytesWritten);
  });

  it('ends as idle only after a time without any octet', async () => {
    let nowMs = 0;
    const ended = start({ idleTimeoutMs: 40, now: () => nowMs });
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    // The relay's clock stands still, so real time alone doesn't end it.
    expect(await until(() => isOver, 120)).toBe(false);
    nowMs = 40;
    expect(await ended).toBe('idle');
    expect([pairs.near.destroyed, pairs.far.destroyed]).toEqual([true, true]);
  });

  it('lets no octet beyond the budget through', async () => {
    const ended = start({ budget: createByteBudget(10, null) }, [Buffer.alloc(8)]);
    pairs.client.write(Buffer.alloc(3));
    expect(await ended).toBe('byte-limit');
    expect(bytes.up).toBe(8);
  });

  it('holds a rate', async () => {
    const startedMs = performance.now();
    const ended = start({ budget: createByteBudget(null, 1024 * 1024) });
    pairs.client.end(Buffer.alloc(512 * 1024));
    pairs.server.end();
    pairs.client.resume();
    expect((await readToEnd(pairs.server)).length).toBe(512 * 1024);
    expect(await ended).toBe('finished');
    // 512 KiB at 1 MiB/s; the last read of at most 64 KiB is not waited for.
    expect(performance.now() - startedMs).toBeGreaterThan(400);
  });

  it('ends at once when its signal fires, and as broken when a side breaks off', async () => {
    const abort = new AbortController();
    const cut = start({ signal: abort.signal });
    abort.abort();
    expect(await cut).toBe('cut');
    expect([pairs.near.destroyed, pairs.far.destroyed]).toEqual([true, true]);

    [pairs.client, pairs.near] = await connectPair();
    [pairs.far, pairs.server] = await connectPair();
    const broken = start();
    pairs.far.destroy();
    expect(await broken).toBe('broken');
    expect(pairs.near.destroyed).toBe(true);
  });
});
