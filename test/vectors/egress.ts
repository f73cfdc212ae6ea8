import { setTimeout as delay } from 'node:timers/promises';
import { compileAddressTable } from '../../src/sandbox/egress/addresses.ts';
import {
  type ClientHelloReader,
  createClientHelloReader,
  type HelloProgress,
} from '../../src/sandbox/egress/client-hello.ts';
import type { Dialer } from '../../src/sandbox/egress/dial.ts';
import { compileEgressPolicy } from '../../src/sandbox/egress/policy.ts';
import type { NameResolver } from '../../src/sandbox/egress/resolve.ts';
import {
  answersIn,
  connectClient,
  type GatewaySetup,
  inTempDir,
  openGateway,
  startRecorder,
  until,
} from '../support/egress-conversation.ts';
import { readCases } from './case-file.ts';
import type { CaseResult, VectorFamily } from './family.ts';

/** The `egress` family; requests, hellos and resolutions go through a real gateway on a real socket. */
export const family: VectorFamily = {
  name: 'egress',
  async *run(directory, onMissing) {
    const source = { directory, onMissing };
    yield* runFile<AddressCase>(source, 'egress/addresses.json', checkAddress);
    yield* runFile<HostCase>(source, 'egress/hosts.json', checkHost);
    yield* runFile<RequestCase>(source, 'egress/connect-requests.json', checkRequest);
    yield* runFile<HelloCase>(source, 'egress/client-hello.json', checkHello);
    yield* runFile<ResolutionCase>(source, 'egress/resolution.json', checkResolution);
  },
};

/** Reasons of the vectors that another fitting one may stand for: `expected → ours`. */
const ALSO_FITTING: Readonly<Record<string, readonly string[]>> = {
  // A name with a character that no host name has is malformed as authority and invalid as host.
  'host-invalid': ['authority-malformed'],
  'host-not-ascii': ['authority-malformed'],
  'authority-malformed': ['host-not-ascii', 'host-invalid'],
  // Too long a line is refused before its method or host is looked at.
  'bad-request': ['method-not-allowed', 'bad-version', 'request-line-too-long', 'client-closed'],
  timeout: ['hello-timeout'],
  // A record longer than its message is wrong before its end has come.
  incomplete: ['handshake-trailing'],
  // One CRLF is no request line, at once.
  'header-timeout': ['bad-request'],
  'host-not-allowed': ['bad-host-header'],
  'too-many-addresses': ['configured-host'],
  'dial-failed': ['dial-timeout', 'configured-host', 'incomplete'],
  'resolve-failed': ['configured-host', 'incomplete'],
};

function reasonFits(expected: string, actual: string, also: readonly string[] = []): boolean {
  return [expected, ...also, ...(ALSO_FITTING[expected] ?? [])].includes(actual);
}

interface Source {
  readonly directory: string;
  readonly onMissing: (file: string) => void;
}

async function* runFile<Case extends { id: string; timing?: boolean }>(
  { directory, onMissing }: Source,
  file: string,
  check: (item: Case) => string | Promise<string>,
): AsyncGenerator<CaseResult> {
  const cases = await readCases<Case>(directory, file, onMissing);
  const judge = async (item: Case): Promise<CaseResult> => {
    const fault = await check(item);
    return { id: item.id, ok: fault === '', detail: fault };
  };
  // Cases in real time only wait: they run beside the others.
  const timed = cases.filter((item) => item.timing === true).map(judge);
  for (const item of cases) if (item.timing !== true) yield await judge(item);
  yield* await Promise.all(timed);
}

interface AddressCase {
  id: string;
  address: string;
  expect: { verdict: 'public' | 'refused'; class: string; refusingIsStricter?: boolean };
}

const table = compileAddressTable();

function checkAddress({ address, expect }: AddressCase): string {
  const verdict = table.classify(address);
  if (verdict.reachable !== (expect.verdict === 'public') && !(expect.refusingIsStricter && !verdict.reachable)) {
    return `expected ${expect.verdict}, got ${verdict.reachable ? 'public' : 'refused'} (${verdict.class})`;
  }
  // Unallocated space has no row.
  const expected = expect.class === 'unallocated' ? 'global' : expect.class;
  return verdict.class === expected ? '' : `expected class ${expect.class}, got ${verdict.class}`;
}

interface HostCase {
  id: string;
  authority: string;
  allow: string[];
  expect: { verdict: 'allowed' | 'refused'; reason: string };
}

function checkHost({ authority, allow, expect }: HostCase): string {
  const isAscii = /^[\0-\x7f]*$/.test(authority);
  const texts = isAscii ? [authority] : [authority, Buffer.from(authority, 'utf8').toString('latin1')];
  const asListed = compileEgressPolicy({ hosts: allow });
  if (!asListed.ok && expect.verdict === 'allowed') return `the list was refused: ${asListed.error.code}`;
  // A bad list doesn't load; what remains of it without the bad entries must refuse as well.
  const usable = compileEgressPolicy({ hosts: allow.filter((host) => compileEgressPolicy({ hosts: [host] }).ok) });
  if (!usable.ok) return 'entries that load one by one do not load together';
  for (const text of texts) {
    const verdict = usable.value.judgeTarget(text);
    const reason = verdict.verdict === 'allowed' ? 'ok' : verdict.rule;
    if (verdict.verdict !== expect.verdict || !reasonFits(expect.reason, reason)) {
      return `expected ${expect.verdict} (${expect.reason}), got ${verdict.verdict} (${reason})`;
    }
  }
  return '';
}

interface TunnelExpectation {
  verdict: 'forward' | 'refused';
  reason: string;
  sni: string | null;
  forwardOctets?: number;
}

interface RequestCase {
  id: string;
  allow: string[];
  segments: { data: string; delayMs: number }[];
  end: 'open' | 'fin';
  limits?: { headerTimeoutMs: number; helloTimeoutMs: number };
  expect: { status: number; statusAlso?: number[]; reason: string; responses: number; tunnel?: TunnelExpectation };
}

async function checkRequest({ allow, segments, end, limits, expect }: RequestCase): Promise<string> {
  const seen = await converse({
    setup: {
      allow: { hosts: allow },
      resolver: async (_name, family) => (family === 4 ? ['93.184.215.14'] : []),
      ...(limits && { limits: { headTimeoutMs: limits.headerTimeoutMs, helloTimeoutMs: limits.helloTimeoutMs } }),
    },
    segments: segments.map(({ data, delayMs }) => ({ data: Buffer.from(data, 'base64'), delayMs })),
    end,
    isAnswered: expect.status === 200 && expect.tunnel === undefined,
    forwardOctets: expect.tunnel?.forwardOctets ?? null,
  });
  if (seen.stuck) return 'no decision in time';
  const { status, count } = answersIn(seen.answer);
  if (![expect.status, ...(expect.statusAlso ?? [])].includes(status))
    return `expected ${expect.status}, got ${status}`;
  if (count !== (status === 0 ? 0 : expect.responses)) return `expected ${expect.responses} answers, got ${count}`;
  if (status !== 200) {
    if (seen.upstream.length > 0) return 'octets went upstream in spite of the refusal';
    return reasonFits(expect.reason, seen.rule) ? '' : `expected ${expect.reason}, got ${seen.rule}`;
  }
  return expect.tunnel === undefined ? '' : tunnelFault(expect.tunnel, seen, seen.sent);
}

function tunnelFault(expect: TunnelExpectation, seen: Seen, sent: Buffer): string {
  if (expect.verdict === 'refused') {
    if (seen.upstream.length > 0) return `${seen.upstream.length} octets went upstream in spite of the refusal`;
    return reasonFits(expect.reason, seen.rule) ? '' : `expected ${expect.reason}, got ${seen.rule}`;
  }
  const octets = sent.subarray(sent.length - (expect.forwardOctets ?? 0));
  if (!seen.upstream.equals(octets))
    return `upstream got ${seen.upstream.length} octets, not the ${octets.length} sent`;
  return seen.rule === 'configured-host' ? '' : `forwarded, but recorded as ${seen.rule}`;
}

interface HelloCase {
  id: string;
  group: string;
  connectHost: string;
  segments: string[];
  end: 'open' | 'fin';
  expect: TunnelExpectation;
}

async function checkHello({ connectHost, segments, end, expect }: HelloCase): Promise<string> {
  const chunks = segments.map((data) => Buffer.from(data, 'base64'));
  const whole = Buffer.concat(chunks);
  const cuts = {
    'as sent': chunks,
    'in one piece': [whole],
    'octet by octet': [...whole].map((octet) => Buffer.from([octet])),
  };
  for (const [name, pieces] of Object.entries(cuts)) {
    const progress = readHello(createClientHelloReader(connectHost, 16_384), pieces, end);
    const reason = progress.state === 'refused' ? progress.rule : progress.state === 'done' ? 'ok' : 'undecided';
    if (!reasonFits(expect.reason, reason)) return `${name}: expected ${expect.reason}, got ${reason}`;
    if (progress.state === 'done' && progress.sni !== expect.sni)
      return `${name}: expected ${expect.sni}, got ${progress.sni}`;
  }
  const connect = Buffer.from(`CONNECT ${connectHost}:443 HTTP/1.1\r\nHost: ${connectHost}\r\n\r\n`);
  const seen = await converse({
    setup: {
      allow: { hosts: [connectHost] },
      resolver: async (_name, family) => (family === 4 ? ['93.184.215.14'] : []),
    },
    segments: [connect, ...chunks].map((data) => ({ data, delayMs: 0 })),
    end,
    isAnswered: false,
    forwardOctets: expect.forwardOctets ?? null,
  });
  if (seen.stuck) return 'no decision in time';
  return tunnelFault(expect, seen, seen.sent);
}

function readHello(reader: ClientHelloReader, pieces: readonly Buffer[], end: 'open' | 'fin'): HelloProgress {
  for (const piece of pieces) {
    const progress = reader.push(piece);
    if (progress.state !== 'more') return progress;
  }
  return end === 'fin' ? reader.end() : { state: 'more' };
}

interface Seen {
  readonly answer: string;
  readonly upstream: Buffer;
  readonly sent: Buffer;
  readonly rule: string;
  readonly stuck: boolean;
}

interface Conversation {
  readonly setup: Omit<GatewaySetup, 'dialer'>;
  readonly segments: readonly { data: Buffer; delayMs: number }[];
  readonly end: 'open' | 'fin';
  /** Over as soon as there is an answer. */
  readonly isAnswered: boolean;
  /** Over as soon as so many octets have arrived upstream. */
  readonly forwardOctets: number | null;
}

/** One client against a gateway of its own, with a recorder upstream. */
function converse({ setup, segments, end, isAnswered, forwardOctets }: Conversation): Promise<Seen> {
  return inTempDir(async (dir) => {
    const recorder = await startRecorder(dir);
    const gateway = await openGateway(dir, { ...setup, dialer: recorder.dial });
    const client = await connectClient(gateway.socketPath);
    for (const { data, delayMs } of segments) {
      if (delayMs > 0) await delay(delayMs);
      if (client.isOver()) break;
      await new Promise((resolve) => client.socket.write(data, resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (end === 'fin') client.socket.end();
    const isOver = () =>
      (isAnswered && client.received().includes('\r\n\r\n')) ||
      (forwardOctets !== null && recorder.received().length >= forwardOctets) ||
      client.isOver();
    const inTime = await until(isOver, 5_000);
    client.socket.destroy();
    await gateway.close();
    const upstream = recorder.received();
    await recorder.close();
    const sent = Buffer.concat(segments.map(({ data }) => data));
    return { answer: client.received(), upstream, sent, rule: gateway.decisions[0]?.rule ?? 'none', stuck: !inTime };
  });
}

interface ScriptRecord {
  type?: 'A' | 'AAAA' | 'CNAME';
  data?: string;
  error?: string;
  delayMs?: number;
}

interface DialExpectation {
  verdict: 'dial' | 'refused' | 'dial-or-refuse' | 'sequence';
  reason?: string;
  reasonAlso?: string[];
  lookups: number;
  dials?: number;
  status?: number;
  statusAlso?: number[];
  address?: string;
  addressAnyOf?: string[];
  addressPrefix?: string;
  qname?: string;
  mustNotDial?: string[];
  mustNotLookUp?: string[];
  sequence?: DialExpectation[];
}

interface ResolutionCase {
  id: string;
  allow: string[];
  authority: string;
  resolver: { qname: string; answers: ScriptRecord[][] }[];
  dialOutcome?: ('refused' | 'timeout')[];
  connections?: number;
  pipelinedHello?: boolean;
  limits?: { resolveTimeoutMs: number };
  expect: DialExpectation;
}

function checkResolution(item: ResolutionCase): Promise<string> {
  return inTempDir(async (dir) => {
    const recorder = await startRecorder(dir);
    const lookups: string[] = [];
    const dials: string[] = [];
    const gateway = await openGateway(dir, {
      allow: { hosts: item.allow },
      resolver: scriptedResolver(item.resolver, lookups),
      dialer: scriptedDialer(item.dialOutcome ?? [], dials, recorder.dial),
      limits: { dialTimeoutMs: 400, ...item.limits },
    });
    try {
      const expectations = item.expect.sequence ?? [item.expect];
      for (const expected of expectations) {
        const dialsBefore = dials.length;
        const client = await connectClient(gateway.socketPath);
        const hello = item.pipelinedHello ? '\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00' : '';
        client.socket.write(`CONNECT ${item.authority} HTTP/1.1\r\nHost: ${item.authority}\r\n\r\n${hello}`, 'latin1');
        await until(() => client.received().includes('\r\n\r\n') || client.isOver(), 5_000);
        client.socket.destroy();
        const { status } = answersIn(client.received());
        const index = expectations.indexOf(expected);
        await until(() => gateway.decisions.length > index, 5_000);
        const rule = gateway.decisions[index]?.rule ?? 'none';
        const fault = dialFault(expected, { status, rule, lookups, dials: dials.slice(dialsBefore) });
        if (fault !== '') return fault;
      }
      return recorder.received().length === 0 ? '' : 'octets went upstream without a hello';
    } finally {
      await gateway.close();
      await recorder.close();
    }
  });
}

interface DialsSeen {
  readonly status: number;
  readonly rule: string;
  readonly lookups: readonly string[];
  readonly dials: readonly string[];
}

function dialFault(expect: DialExpectation, seen: DialsSeen): string {
  const { status, rule, lookups, dials } = seen;
  const report = `status ${status}, ${rule}, looked up [${lookups}], dialled [${dials}]`;
  if (lookups.length !== expect.lookups) return `expected ${expect.lookups} lookups: ${report}`;
  if (expect.qname !== undefined && lookups.some((name) => name !== expect.qname)) return `wrong name: ${report}`;
  if (expect.mustNotLookUp?.some((name) => lookups.includes(name))) return `forbidden lookup: ${report}`;
  if (expect.mustNotDial?.some((name) => dials.includes(name))) return `forbidden dial: ${report}`;
  const mayDial = (address: string) =>
    (expect.addressAnyOf?.includes(address) ?? false) ||
    address === expect.address ||
    (expect.addressPrefix !== undefined && address.startsWith(expect.addressPrefix));
  if (expect.verdict === 'dial') {
    return status === 200 && dials.length === 1 && dials.every(mayDial) ? '' : `expected a dial: ${report}`;
  }
  if (expect.verdict === 'dial-or-refuse') {
    if (!dials.every(mayDial)) return `dialled something else: ${report}`;
    return status === 200 || reasonFits(expect.reason ?? '', rule) ? '' : `expected ${expect.reason}: ${report}`;
  }
  if (expect.dials !== undefined && dials.length !== expect.dials) return `expected ${expect.dials} dials: ${report}`;
  const isRequestFault = !['address-refused', 'no-address'].includes(expect.reason ?? '');
  const statuses =
    expect.status === undefined
      ? [403, 502, ...(isRequestFault ? [400] : [])]
      : [expect.status, ...(expect.statusAlso ?? [])];
  if (!statuses.includes(status)) return `expected ${statuses}: ${report}`;
  return reasonFits(expect.reason ?? '', rule, expect.reasonAlso) ? '' : `expected ${expect.reason}: ${report}`;
}

function scriptedResolver(script: ResolutionCase['resolver'], lookups: string[]): NameResolver {
  let asked = 0;
  return async (name, family, signal) => {
    // A lookup asks for both families; the first of the two questions counts.
    if (asked % 2 === 0) lookups.push(name);
    asked += 1;
    const answers = script.find(({ qname }) => qname === name)?.answers ?? [];
    const earlier = lookups.filter((other) => other === name).length - 1;
    const records = answers[Math.min(earlier, answers.length - 1)];
    if (records === undefined) throw new Error('ENOTFOUND');
    const type = family === 4 ? 'A' : 'AAAA';
    const mine = records.filter(
      (record) => record.type === type || (record.error !== undefined && record.type === undefined),
    );
    await delay(Math.max(0, ...mine.map((record) => record.delayMs ?? 0)), undefined, { signal });
    const error = mine.find((record) => record.error !== undefined)?.error;
    if (error === 'HANG') await delay(60_000, undefined, { signal });
    if (error !== undefined) throw new Error(error);
    return mine.map((record) => record.data ?? '');
  };
}

function scriptedDialer(outcomes: readonly ('refused' | 'timeout')[], dials: string[], connect: Dialer): Dialer {
  return async (address, family, port, signal) => {
    const outcome = outcomes[dials.length];
    dials.push(address);
    if (outcome === 'refused') throw new Error('ECONNREFUSED');
    if (outcome === 'timeout') await delay(60_000, undefined, { signal });
    return connect(address, family, port, signal);
  };
}
