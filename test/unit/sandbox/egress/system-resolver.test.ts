import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemResolver } from '../../../../src/sandbox/egress/system-resolver.ts';
import { until } from '../../../support/egress-conversation.ts';

const A = 1;
const NXDOMAIN = 3;
const never = new AbortController().signal;

let server: Socket;
let address: string;
let asked: { name: string; type: number }[];

/** A DNS server that knows one name with an A record and no AAAA, never answers for `silent.example`, and denies the rest. */
beforeEach(async () => {
  asked = [];
  server = createSocket('udp4', (query, { port, address: from }) => {
    const question = readQuestion(query);
    asked.push(question);
    if (question.name === 'silent.example') return;
    const isKnown = question.name === 'api.example';
    const records = isKnown && question.type === A ? [Buffer.from([93, 184, 215, 14])] : [];
    server.send(answer(query, question.length, isKnown ? 0 : NXDOMAIN, records), port, from);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  address = `127.0.0.1:${server.address().port}`;
});
afterEach(() => {
  delete process.env.LOCALDOMAIN;
  server.close();
});

function readQuestion(query: Buffer): { name: string; type: number; length: number } {
  const labels: string[] = [];
  let at = 12;
  for (let size = query.readUInt8(at); size > 0; size = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + size));
    at += 1 + size;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), length: at + 5 - 12 };
}

function answer(query: Buffer, questionLength: number, code: number, records: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  const rows = records.map((data) =>
    Buffer.concat([Buffer.from([0xc0, 12, 0, A, 0, 1, 0, 0, 0, 60, 0, data.length]), data]),
  );
  return Buffer.concat([head, query.subarray(12, 12 + questionLength), ...rows]);
}

describe('the system resolver', () => {
  it('answers per family, and no record is an empty answer', async () => {
    const resolve = createSystemResolver([address]);
    expect(await resolve('api.example', 4, never)).toEqual(['93.184.215.14']);
    expect(await resolve('api.example', 6, never)).toEqual([]);
  });

  it('rejects for a name that does not exist, without trying search domains', async () => {
    process.env.LOCALDOMAIN = 'corp.example';
    await expect(createSystemResolver([address])('absent.example', 4, never)).rejects.toMatchObject({
      code: 'ENOTFOUND',
    });
    expect(asked.map(({ name }) => name)).toEqual(['absent.example']);
  });

  it('gives a query up when told to', async () => {
    const abort = new AbortController();
    const pending = createSystemResolver([address])('silent.example', 4, abort.signal);
    expect(await until(() => asked.length === 1, 2_000)).toBe(true);
    abort.abort();
    await expect(pending).rejects.toMatchObject({ code: 'ECANCELLED' });
  });
});
