import type { Duplex } from 'node:stream';
import type { EgressDecision, EgressEnd, EgressLimits, EgressRule } from '../../engine/ports/egress-gateway.ts';
import type { ByteBudget } from './budget.ts';
import { type ChunkSource, createChunkSource, type NextChunk } from './chunk-source.ts';
import { createClientHelloReader } from './client-hello.ts';
import { createConnectRequestReader } from './connect-request.ts';
import { withDeadline } from './deadline.ts';
import { decideDestination } from './decide.ts';
import { type Dialer, dialFirst } from './dial.ts';
import type { Grants } from './grants.ts';
import { closeWithAnswer } from './linger.ts';
import { relay } from './relay.ts';
import type { NameResolver } from './resolve.ts';
import { ESTABLISHED, refusalResponse } from './responses.ts';

export interface TunnelContext {
  readonly grants: Grants;
  readonly resolver: NameResolver;
  readonly dialer: Dialer;
  readonly limits: EgressLimits;
  readonly budget: ByteBudget;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

type Step<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly rule: EgressRule };

/**
 * One connection of the container, from its first octet to its record: request, host, addresses, dial, 200, ClientHello,
 * relay. Nothing goes upstream before the ClientHello is accepted. Resolves when the client's socket is gone; `record`
 * is called exactly once, before a refused client is waited for.
 */
export async function serveTunnel(
  client: Duplex,
  context: TunnelContext,
  record: (decision: EgressDecision) => void,
): Promise<void> {
  // Why a socket broke doesn't matter here: every wait below also ends when it is closed.
  client.on('error', () => {});
  try {
    await withDeadline(null, context.signal, (signal) => serve(client, { ...context, signal }, record));
  } finally {
    client.destroy();
  }
}

async function serve(
  client: Duplex,
  context: TunnelContext,
  record: (decision: EgressDecision) => void,
): Promise<void> {
  const { limits, signal } = context;
  const startedMs = context.now();
  const facts: Facts = { host: null, port: null, address: null, sni: null, bytesUp: 0, bytesDown: 0 };
  const source = createChunkSource(client);

  function finish(rule: EgressRule, ended: EgressEnd | null): void {
    const ms = Math.round(context.now() - startedMs);
    record({ ...facts, verdict: ended === null ? 'refused' : 'allowed', rule, ended, ms });
  }

  async function refuse(rule: EgressRule): Promise<void> {
    source.release();
    finish(signal.aborted ? 'gateway-closed' : rule, null);
    await closeWithAnswer(client, refusalResponse(rule), signal);
  }

  if (context.budget.isSpent()) return refuse('byte-limit');
  const request = await readRequest(source, context, facts);
  if (!request.ok) return refuse(request.rule);
  // Judged here and, at the same moment, where the lookup starts: a withdrawal can't slip in between.
  const allowed = context.grants.policy().judgeTarget(request.target);
  facts.host = allowed.host;
  facts.port = allowed.port;
  if (allowed.verdict === 'refused') return refuse(allowed.rule);
  await withDeadline(null, context.grants.signalFor(allowed.host), (granted) =>
    serveHost(request.target, allowed.host, granted),
  );

  /** Everything from here on ends at once when the host is withdrawn. */
  async function serveHost(target: string, host: string, granted: AbortSignal): Promise<void> {
    const refuseHost = (rule: EgressRule) => refuse(granted.aborted ? 'host-not-allowed' : rule);

    const { answers } = await decideDestination(target, context.grants.policy(), context.resolver, limits, granted);
    if (answers === null || answers.verdict === 'refused') {
      facts.address = answers?.address ?? null;
      return refuseHost(answers?.rule ?? 'host-not-allowed');
    }
    const dialled = await dialFirst(context.dialer, answers.addresses, HTTPS_PORT, limits, granted);
    if (!dialled.ok) return refuseHost(dialled.rule);
    const upstream = dialled.socket;
    upstream.on('error', () => {});
    facts.address = dialled.address;
    try {
      client.write(ESTABLISHED);
      const hello = await readHello(source, host, limits, granted, facts);
      if (!hello.ok) {
        upstream.destroy();
        return await refuseTunnel(granted.aborted ? 'host-not-allowed' : hello.rule);
      }
      const octets = [...hello.chunks, ...source.release()];
      const ended = await relay(client, upstream, octets, {
        budget: context.budget,
        now: context.now,
        signal: granted,
        idleTimeoutMs: limits.idleTimeoutMs,
        onBytes(direction, bytes) {
          if (direction === 'up') facts.bytesUp += bytes;
          else facts.bytesDown += bytes;
        },
      });
      finish('configured-host', ended === 'cut' ? (signal.aborted ? 'gateway-closed' : 'withdrawn') : ended);
    } finally {
      upstream.destroy();
    }
  }

  /** The 200 is out: closing is the only answer left. */
  async function refuseTunnel(rule: EgressRule): Promise<void> {
    source.release();
    finish(signal.aborted ? 'gateway-closed' : rule, null);
    await closeWithAnswer(client, null, signal);
  }
}

const HTTPS_PORT = 443;

interface Facts {
  host: string | null;
  port: number | null;
  address: string | null;
  sni: string | null;
  bytesUp: number;
  bytesDown: number;
}

async function readRequest(
  source: ChunkSource,
  { limits, signal, grants }: TunnelContext,
  facts: Facts,
): Promise<Step<{ readonly target: string }>> {
  const reader = createConnectRequestReader({ headBytes: limits.headBytes, headers: limits.headers });
  return withDeadline(limits.headTimeoutMs, signal, async (deadline) => {
    let isFirst = true;
    for (;;) {
      const chunk = await source.next(deadline);
      if (!Buffer.isBuffer(chunk)) {
        // Leaving without a word is no malformed request.
        return { ok: false, rule: interruption(chunk, 'header-timeout', isFirst ? 'client-closed' : 'bad-request') };
      }
      isFirst = false;
      const progress = reader.push(chunk);
      if (progress.state === 'refused') {
        if (progress.target !== null) {
          const { host, port } = grants.policy().judgeTarget(progress.target);
          Object.assign(facts, { host, port });
        }
        return { ok: false, rule: progress.rule };
      }
      if (progress.state === 'done') {
        source.putBack(progress.rest);
        return { ok: true, target: progress.target };
      }
    }
  });
}

async function readHello(
  source: ChunkSource,
  host: string,
  limits: EgressLimits,
  signal: AbortSignal,
  facts: Facts,
): Promise<Step<{ readonly chunks: Buffer[] }>> {
  const reader = createClientHelloReader(host, limits.helloBytes);
  const chunks: Buffer[] = [];
  return withDeadline(limits.helloTimeoutMs, signal, async (deadline) => {
    for (;;) {
      const chunk = await source.next(deadline);
      if (!Buffer.isBuffer(chunk)) return { ok: false, rule: interruption(chunk, 'hello-timeout', 'incomplete') };
      chunks.push(chunk);
      const progress = reader.push(chunk);
      if (progress.state === 'more') continue;
      facts.sni = progress.sni;
      return progress.state === 'done' ? { ok: true, chunks } : { ok: false, rule: progress.rule };
    }
  });
}

function interruption(why: Exclude<NextChunk, Buffer>, onTimeout: EgressRule, onEnd: EgressRule): EgressRule {
  if (why === 'aborted') return onTimeout;
  return why === 'end' ? onEnd : 'client-closed';
}
