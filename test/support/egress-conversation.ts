import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type {
  EgressAllowance,
  EgressDecision,
  EgressGateway,
  EgressLimits,
} from '../../src/engine/ports/egress-gateway.ts';
import type { Dialer } from '../../src/sandbox/egress/dial.ts';
import { createEgressGateways } from '../../src/sandbox/egress/egress-gateways.ts';
import type { NameResolver } from '../../src/sandbox/egress/resolve.ts';

/** A server on a Unix socket that keeps what it is sent and says nothing: the far side of a tunnel. */
export interface Recorder {
  readonly dial: Dialer;
  /** Octets of all connections together. */
  received(): Buffer;
  close(): Promise<void>;
}

export async function startRecorder(dir: string): Promise<Recorder> {
  const chunks: Buffer[] = [];
  const sockets = new Set<Socket>();
  const socketPath = path.join(dir, 'recorder');
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  });
  server.listen(socketPath);
  await once(server, 'listening');
  return {
    dial: async () => {
      const socket = connect({ path: socketPath, allowHalfOpen: true });
      await once(socket, 'connect');
      return socket;
    },
    received: () => Buffer.concat(chunks),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

export interface GatewaySetup {
  readonly allow: EgressAllowance;
  readonly resolver: NameResolver;
  readonly dialer: Dialer;
  readonly limits?: Partial<EgressLimits>;
}

export interface RunningGateway {
  readonly socketPath: string;
  readonly decisions: EgressDecision[];
  readonly replaceAllowance: EgressGateway['replaceAllowance'];
  close(): Promise<void>;
}

export async function openGateway(dir: string, setup: GatewaySetup): Promise<RunningGateway> {
  const { allow, limits = {}, ...deps } = setup;
  const decisions: EgressDecision[] = [];
  const opened = await createEgressGateways({ ...deps, now: () => performance.now() }).open({
    socketPath: path.join(dir, 'egress'),
    allow,
    limits,
    onDecision: (decision) => decisions.push(decision),
  });
  if (!opened.ok) throw new Error(`the gateway did not open: ${JSON.stringify(opened.error)}`);
  const gateway = opened.value;
  return { ...gateway, decisions };
}

export interface Client {
  readonly socket: Socket;
  received(): string;
  isOver(): boolean;
}

export async function connectClient(socketPath: string): Promise<Client> {
  const socket = connect({ path: socketPath, allowHalfOpen: true });
  let text = '';
  let over = false;
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('end', () => {
    over = true;
    socket.end();
  });
  socket.on('close', () => {
    over = true;
  });
  await once(socket, 'connect');
  return { socket, received: () => text, isOver: () => over };
}

/** Polls until the condition holds; false when it doesn't in time. */
export async function until(condition: () => boolean, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > deadline) return false;
    await delay(1);
  }
  return true;
}

/** Status of the first answer, 0 when there is none, and how many answers there are. */
export function answersIn(text: string): { status: number; count: number } {
  const all = [...text.matchAll(/HTTP\/1\.[01] ([0-9]{3}) /g)];
  return { status: Number(all[0]?.[1] ?? 0), count: all.length };
}

export async function inTempDir<T>(run: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(path.join(tmpdir(), 'rt-egress-'));
  try {
    return await run(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
