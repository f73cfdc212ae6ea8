/**
 * The host side of a container's only way out. Trusts the caller's list of hosts, resolver and dialer, and that the socket's
 * directory is private. Trusts nothing that arrives on the socket: whoever sits at the other end may be hostile.
 */
import { setMaxListeners } from 'node:events';
import { chmod } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { err, ok, type Result } from '../../engine/domain/result.ts';
import type {
  EgressAllowance,
  EgressDecision,
  EgressGateway,
  EgressGatewayError,
  EgressGatewayOptions,
} from '../../engine/ports/egress-gateway.ts';
import { createByteBudget } from './budget.ts';
import type { Dialer } from './dial.ts';
import { createGrants } from './grants.ts';
import { DEFAULT_EGRESS_LIMITS, LINGERING_CONNECTIONS, MAX_SOCKET_PATH_BYTES } from './limits.ts';
import { closeWithAnswer } from './linger.ts';
import { compileEgressPolicy } from './policy.ts';
import type { NameResolver } from './resolve.ts';
import { refusalResponse } from './responses.ts';
import { serveTunnel, type TunnelContext } from './tunnel.ts';

export interface GatewayOptions extends EgressGatewayOptions {
  readonly resolver: NameResolver;
  readonly dialer: Dialer;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** Listens on a Unix socket and serves each connection on its own until `close`. */
export async function createEgressGateway(options: GatewayOptions): Promise<Result<EgressGateway, EgressGatewayError>> {
  const { socketPath } = options;
  const pathBytes = Buffer.byteLength(socketPath);
  if (pathBytes > MAX_SOCKET_PATH_BYTES) {
    const remedy = `Use a directory with a shorter path: at most ${MAX_SOCKET_PATH_BYTES} bytes in all.`;
    return err({ code: 'socket_path_too_long', path: socketPath, bytes: pathBytes, remedy });
  }

  const policy = compileEgressPolicy(options.allow);
  if (!policy.ok) return policy;

  const grants = createGrants(policy.value);
  const limits = { ...DEFAULT_EGRESS_LIMITS, ...options.limits };
  const cut = new AbortController();
  // One listener per connection, so the limit of connections bounds them.
  setMaxListeners(0, cut.signal);
  const tunnels = new Set<Promise<void>>();
  const lingering = new Set<Promise<void>>();
  const context: TunnelContext = {
    grants,
    resolver: options.resolver,
    dialer: options.dialer,
    now: options.now,
    limits,
    budget: createByteBudget(limits.totalBytes, limits.bytesPerSecond),
    signal: cut.signal,
  };

  function accept(client: Socket): void {
    if (cut.signal.aborted) client.destroy();
    else if (tunnels.size >= limits.connections) own(lingering, turnAway(client));
    else own(tunnels, serveTunnel(client, context, options.onDecision));
  }

  /** Every connection's promise has an owner; one that fails is a failure to record, and ends the gateway. */
  function own(set: Set<Promise<void>>, task: Promise<void>): void {
    const owned = task.catch(fail).finally(() => set.delete(owned));
    set.add(owned);
  }

  async function turnAway(client: Socket): Promise<void> {
    client.on('error', () => {});
    if (lingering.size >= LINGERING_CONNECTIONS) client.destroy();
    options.onDecision(TURNED_AWAY);
    await closeWithAnswer(client, refusalResponse('connection-limit'), cut.signal);
  }

  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, accept);
  const listening = await listen(server, socketPath);
  if (listening !== null) {
    const remedy = 'Give a new path in an existing directory that only this user can enter.';
    return err({ code: 'socket_unusable', path: socketPath, cause: listening, remedy });
  }

  let failure: Error | null = null;
  let closing: Promise<void> | null = null;
  const closed = new Promise<void>((resolve) => server.once('close', resolve)).then(() => ({ failure }));
  server.on('error', fail);
  options.signal?.addEventListener('abort', close, { once: true });
  if (options.signal?.aborted) await close();

  function fail(cause: unknown): void {
    failure ??= cause instanceof Error ? cause : new Error('the egress gateway failed', { cause });
    void close();
  }

  function close(): Promise<void> {
    closing ??= shut();
    return closing;
  }

  async function shut(): Promise<void> {
    options.signal?.removeEventListener('abort', close);
    server.close();
    cut.abort();
    grants.cutAll();
    await Promise.all([closed, ...tunnels, ...lingering]);
  }

  function replaceAllowance(allow: EgressAllowance): Result<void, EgressGatewayError> {
    const next = compileEgressPolicy(allow);
    if (!next.ok) return next;
    grants.replace(next.value);
    return ok(undefined);
  }

  return ok({ socketPath, closed, replaceAllowance, close });
}

const TURNED_AWAY: EgressDecision = {
  host: null,
  port: null,
  address: null,
  sni: null,
  verdict: 'refused',
  rule: 'connection-limit',
  ended: null,
  bytesUp: 0,
  bytesDown: 0,
  ms: 0,
};

/** Null when it listens, else the error's code. Anybody may connect: another uid inside the container has to, and the directory is private. */
async function listen(server: Server, path: string): Promise<string | null> {
  const fault = await new Promise<string | null>((resolve) => {
    const onError = (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message);
    server.once('error', onError);
    server.listen(path, () => {
      server.off('error', onError);
      resolve(null);
    });
  });
  if (fault !== null) return fault;
  try {
    await chmod(path, 0o666);
    return null;
  } catch (error) {
    server.close();
    return error instanceof Error ? error.message : String(error);
  }
}
