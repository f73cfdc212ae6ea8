import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../src/sandbox/egress/address-text.ts';
import { parseAuthority } from '../../src/sandbox/egress/authority.ts';
import { createClientHelloReader } from '../../src/sandbox/egress/client-hello.ts';
import { createConnectRequestReader } from '../../src/sandbox/egress/connect-request.ts';

const HOST = 'api.example.com';
const BUDGET_MS = 3_000;
const bounds = { interruptAfterTimeLimit: BUDGET_MS, numRuns: 20_000, markInterruptAsFailure: false } as const;

type Outcome = { readonly state: string; readonly consumed: number; readonly [key: string]: unknown };

/** Feeds octets in chunks; `consumed` counts up to the chunk boundary-independent end of the head where there is one. */
function readRequest(chunks: readonly Buffer[]): Outcome {
  const reader = createConnectRequestReader({ headBytes: 512, headers: 10 });
  let fed = 0;
  for (const chunk of chunks) {
    const progress = reader.push(chunk);
    fed += chunk.length;
    if (progress.state === 'done')
      return { state: 'done', target: progress.target, consumed: fed - progress.rest.length };
    if (progress.state === 'refused') return { ...progress, consumed: 0 };
  }
  return { state: 'more', consumed: 0 };
}

function readHello(chunks: readonly Buffer[]): Outcome {
  const reader = createClientHelloReader(HOST, 2_048);
  for (const chunk of chunks) {
    const progress = reader.push(chunk);
    if (progress.state !== 'more') return { ...progress, consumed: 0 };
  }
  return { state: 'more', consumed: 0 };
}

function cut(octets: Buffer, cuts: readonly number[]): Buffer[] {
  const edges = [0, ...[...cuts].map((at) => at % (octets.length + 1)).sort((a, b) => a - b), octets.length];
  return edges.slice(1).map((edge, index) => octets.subarray(edges[index], edge));
}

const cutPoints = fc.array(fc.nat(), { maxLength: 12 });

/** A valid head or hello with octets changed, put in, taken out, doubled. */
function mutated(valid: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  const mutation = fc.record({
    at: fc.nat(),
    octet: fc.integer({ min: 0, max: 255 }),
    kind: fc.constantFrom('set', 'insert', 'delete', 'double'),
  });
  return fc.tuple(valid, fc.array(mutation, { maxLength: 4 })).map(([octets, mutations]) =>
    mutations.reduce((current, { at, octet, kind }) => {
      const index = at % (current.length + 1);
      const before = current.subarray(0, index);
      if (kind === 'insert') return Buffer.concat([before, Buffer.from([octet]), current.subarray(index)]);
      if (kind === 'double') return Buffer.concat([before, before]);
      return Buffer.concat([before, ...(kind === 'set' ? [Buffer.from([octet])] : []), current.subarray(index + 1)]);
    }, octets),
  );
}

const headText = fc
  .record({
    method: fc.constantFrom('CONNECT', 'GET', 'connect', 'CONNECT '),
    target: fc.constantFrom(`${HOST}:443`, 'API.example.com:443', 'evil.example:443', '*', ''),
    version: fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', ''),
    headers: fc.array(
      fc.constantFrom(
        `Host: ${HOST}:443`,
        `host:${HOST}`,
        'X: y',
        'X : y',
        ' folded',
        'Content-Length: 0',
        'Content-Length: 5',
        'Transfer-Encoding: chunked',
        'Z:\t',
      ),
      { maxLength: 12 },
    ),
    newline: fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r'),
    rest: fc.string({ unit: 'binary-ascii', maxLength: 20 }),
  })
  .map(({ method, target, version, headers, newline, rest }) =>
    Buffer.from(`${[`${method} ${target} ${version}`, ...headers].join(newline)}${newline}${newline}${rest}`, 'latin1'),
  );

function vector(lengthOctets: number, content: Buffer): Buffer {
  const length = Buffer.alloc(lengthOctets);
  length.writeUIntBE(content.length, 0, lengthOctets);
  return Buffer.concat([length, content]);
}

function extension(type: number, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type >> 8, type & 0xff]), vector(2, data)]);
}

const serverName = (name: string) =>
  extension(0, vector(2, Buffer.concat([Buffer.from([0]), vector(2, Buffer.from(name, 'latin1'))])));

const hello = fc
  .record({
    extensions: fc.array(
      fc.oneof(
        fc.constantFrom(
          serverName(HOST),
          serverName('API.Example.com'),
          serverName('evil.example'),
          extension(0xfe0d, Buffer.alloc(8)),
        ),
        fc
          .tuple(fc.integer({ min: 1, max: 0xffff }), fc.uint8Array({ maxLength: 40 }))
          .map(([type, data]) => extension(type, Buffer.from(data))),
      ),
      { maxLength: 6 },
    ),
    sessionId: fc.uint8Array({ maxLength: 33 }),
    recordSizes: fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 4 }),
    after: fc.uint8Array({ maxLength: 30 }),
  })
  .map(({ extensions, sessionId, recordSizes, after }) => {
    const body = Buffer.concat([
      Buffer.from([3, 3]),
      Buffer.alloc(32, 7),
      vector(1, Buffer.from(sessionId)),
      vector(2, Buffer.from([0x13, 1])),
      vector(1, Buffer.from([0])),
      vector(2, Buffer.concat(extensions)),
    ]);
    const message = Buffer.concat([Buffer.from([1]), vector(3, body)]);
    const records: Buffer[] = [];
    for (let at = 0, index = 0; at < message.length; index += 1) {
      const size = recordSizes[index] ?? message.length;
      records.push(Buffer.from([22, 3, 1]), vector(2, message.subarray(at, at + size)));
      at += size;
    }
    return Buffer.concat([...records, Buffer.from(after)]);
  });

describe('the request reader', () => {
  it('gives the same answer however the octets are cut, and accepts only what names the target', () => {
    const states = new Set<string>();
    fc.assert(
      fc.property(
        fc.oneof(
          mutated(headText),
          fc.uint8Array({ maxLength: 700 }).map((octets) => Buffer.from(octets)),
        ),
        cutPoints,
        (octets, cuts) => {
          const whole = readRequest([octets]);
          states.add(whole.state);
          expect(readRequest(cut(octets, cuts))).toEqual(whole);
          expect(readRequest([...octets].map((octet) => Buffer.from([octet])))).toEqual(whole);
          if (whole.state !== 'done') return;
          const head = octets.toString('latin1', 0, whole.consumed);
          expect(head.startsWith(`CONNECT ${whole.target} HTTP/1.`)).toBe(true);
          expect(head.endsWith('\r\n\r\n')).toBe(true);
          expect(head.match(/\r\n\r\n/g)).toHaveLength(1);
          expect(head).not.toMatch(/transfer-encoding/i);
        },
      ),
      bounds,
    );
    expect([...states].sort()).toEqual(['done', 'more', 'refused']);
  });

  it('decides within its limit whatever comes', () => {
    fc.assert(
      fc.property(fc.constantFrom(0x41, 0x20, 0x0d, 0x0a, 0x3a, 0x80), (octet) => {
        expect(readRequest([Buffer.alloc(513, octet)]).state).toBe('refused');
      }),
    );
  });
});

describe('the ClientHello reader', () => {
  it('gives the same answer however the octets are cut, and accepts only the authorised name', () => {
    const states = new Set<string>();
    fc.assert(
      fc.property(
        fc.oneof(
          hello,
          mutated(hello),
          fc.uint8Array({ maxLength: 200 }).map((octets) => Buffer.from(octets)),
        ),
        cutPoints,
        (octets, cuts) => {
          const whole = readHello([octets]);
          states.add(whole.state);
          expect(readHello(cut(octets, cuts))).toEqual(whole);
          expect(readHello([...octets].map((octet) => Buffer.from([octet])))).toEqual(whole);
          if (whole.state === 'done') expect(String(whole.sni).toLowerCase()).toBe(HOST);
        },
      ),
      bounds,
    );
    expect([...states].sort()).toEqual(['done', 'more', 'refused']);
  });

  it('stops at the size that a message claims', () => {
    const claims = Buffer.from([22, 3, 1, 0x40, 0, 1, 0, 8, 0]);
    expect(readHello([claims])).toMatchObject({ state: 'refused', rule: 'too-large' });
    // A message in records of one octet: bounded by the size of the message.
    const drip = Buffer.concat(
      Array.from({ length: 2_048 }, (_, index) => Buffer.from([22, 3, 1, 0, 1, [1, 0, 7, 0xfc][index] ?? 0])),
    );
    expect(readHello([drip]).state).toBe('refused');
  });
});

describe('authorities and addresses', () => {
  it('never throw, and accept only their canonical forms', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.string({ unit: fc.constantFrom(...'0123456789abcfx.:%[]'), maxLength: 40 }),
    );
    fc.assert(
      fc.property(text, (input) => {
        const authority = parseAuthority(input);
        if (authority.ok) expect(`${authority.host}:443`).toBe(input.toLowerCase());
        const address = parseAddress(input);
        if (address?.family === 4)
          expect([24n, 16n, 8n, 0n].map((bits) => (address.value >> bits) & 255n).join('.')).toBe(input);
      }),
      bounds,
    );
  });

  it('reads every IPv6 address that the platform prints, to the same number', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const host = new URL(`http://[${text}]/`).hostname.slice(1, -1);
        expect(parseAddress(text)).toEqual(parseAddress(host));
        expect(parseAddress(text)).not.toBeNull();
      }),
      { numRuns: 2_000 },
    );
  });
});
