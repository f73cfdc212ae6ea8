import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type Dialer, dialFirst } from '../../../../src/sandbox/egress/dial.ts';
import { compileEgressPolicy } from '../../../../src/sandbox/egress/policy.ts';

const never = new AbortController().signal;
const limits = { dialTimeoutMs: 2_000, dialStaggerMs: 20 };

function checked(...texts: string[]) {
  const policy = compileEgressPolicy({ hosts: ['a.example'] });
  const verdict = policy.ok ? policy.value.judgeAnswers('a.example', texts, 64) : null;
  if (verdict?.verdict !== 'allowed') throw new Error('the addresses of this test are public');
  return verdict.addresses;
}

/** `connected` at once, `refused` at once, or `silent` until given up. */
function scripted(script: Record<string, 'connected' | 'refused' | 'silent'>) {
  const dialled: string[] = [];
  const givenUp: string[] = [];
  const sockets: PassThrough[] = [];
  const dialer: Dialer = (address, _family, _port, signal) => {
    dialled.push(address);
    if (script[address] === 'refused') return Promise.reject(new Error('ECONNREFUSED'));
    if (script[address] === 'connected') {
      const socket = new PassThrough();
      sockets.push(socket);
      return Promise.resolve(socket);
    }
    return new Promise((_, reject) =>
      signal.addEventListener('abort', () => {
        givenUp.push(address);
        reject(new Error('aborted'));
      }),
    );
  };
  return { dialer, dialled, givenUp, sockets };
}

describe('happy eyeballs', () => {
  it('takes the first connection, IPv6 first, and dials nothing more', async () => {
    const { dialer, dialled } = scripted({ '2606:4700::1': 'connected', '8.8.8.8': 'connected' });
    const result = await dialFirst(dialer, checked('8.8.8.8', '2606:4700::1'), 443, limits, never);
    expect(result).toMatchObject({ ok: true, address: '2606:4700::1' });
    expect(dialled).toEqual(['2606:4700::1']);
  });

  it('goes on at once after a failure', async () => {
    const { dialer, dialled } = scripted({ '2606:4700::1': 'refused', '8.8.8.8': 'connected' });
    const slow = { ...limits, dialStaggerMs: 60_000 };
    const result = await dialFirst(dialer, checked('8.8.8.8', '2606:4700::1'), 443, slow, never);
    expect(result).toMatchObject({ ok: true, address: '8.8.8.8' });
    expect(dialled).toEqual(['2606:4700::1', '8.8.8.8']);
  });

  it('tries the next beside a silent one, and gives the silent one up when another won', async () => {
    const { dialer, givenUp } = scripted({ '2606:4700::1': 'silent', '8.8.8.8': 'connected' });
    const result = await dialFirst(dialer, checked('8.8.8.8', '2606:4700::1'), 443, limits, never);
    expect(result).toMatchObject({ ok: true, address: '8.8.8.8' });
    expect(givenUp).toEqual(['2606:4700::1']);
  });

  it('destroys a second winner of the same moment', async () => {
    const gates: (() => void)[] = [];
    const sockets: PassThrough[] = [];
    const dialer: Dialer = () =>
      new Promise((resolve) =>
        gates.push(() => {
          const socket = new PassThrough();
          sockets.push(socket);
          resolve(socket);
        }),
      );
    const result = dialFirst(dialer, checked('8.8.8.8', '1.1.1.1'), 443, { ...limits, dialStaggerMs: 1 }, never);
    while (gates.length < 2) await new Promise((resolve) => setImmediate(resolve));
    for (const open of gates) open();
    expect(await result).toMatchObject({ ok: true, address: '8.8.8.8' });
    expect(sockets.map((socket) => socket.destroyed)).toEqual([false, true]);
  });

  it('tells a refusal by all from silence, and an abort ends it', async () => {
    const refused = scripted({ '8.8.8.8': 'refused', '1.1.1.1': 'refused' });
    expect(await dialFirst(refused.dialer, checked('8.8.8.8', '1.1.1.1'), 443, limits, never)).toEqual({
      ok: false,
      rule: 'dial-failed',
    });
    const silent = scripted({ '8.8.8.8': 'silent' });
    const short = { ...limits, dialTimeoutMs: 30 };
    expect(await dialFirst(silent.dialer, checked('8.8.8.8'), 443, short, never)).toEqual({
      ok: false,
      rule: 'dial-timeout',
    });
    expect(silent.givenUp).toEqual(['8.8.8.8']);
    const abort = new AbortController();
    const aborted = dialFirst(silent.dialer, checked('8.8.8.8'), 443, limits, abort.signal);
    abort.abort();
    expect(await aborted).toEqual({ ok: false, rule: 'dial-failed' });
  });

  it('stops after eight addresses', async () => {
    const { dialer, dialled } = scripted({});
    const many = checked(...Array.from({ length: 40 }, (_, index) => `45.34.0.${index}`));
    await dialFirst(dialer, many, 443, { dialTimeoutMs: 200, dialStaggerMs: 1 }, never);
    expect(dialled).toHaveLength(8);
  });
});
