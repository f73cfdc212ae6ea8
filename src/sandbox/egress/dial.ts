import type { Duplex } from 'node:stream';
import { whenAborted, withDeadline } from './deadline.ts';
import type { CheckedAddress } from './policy.ts';

/** Connects to one address by number. Rejects when that fails or `signal` aborts; then nothing is left open. */
export type Dialer = (address: string, family: 4 | 6, port: number, signal: AbortSignal) => Promise<Duplex>;

export type Dialled =
  | { readonly ok: true; readonly socket: Duplex; readonly address: string }
  | { readonly ok: false; readonly rule: 'dial-failed' | 'dial-timeout' };

export interface DialLimits {
  readonly dialTimeoutMs: number;
  readonly dialStaggerMs: number;
}

/** More addresses than this are not tried: the time limit would end it anyway. */
const MAX_ATTEMPTS = 8;

/**
 * Happy eyeballs (RFC 8305) among addresses that passed the check: families take turns, the next attempt starts when
 * the last one failed or had its head start, the first connection wins and the others are dropped.
 */
export async function dialFirst(
  dialer: Dialer,
  addresses: readonly CheckedAddress[],
  port: number,
  limits: DialLimits,
  signal: AbortSignal,
): Promise<Dialled> {
  const queue = inTurns(addresses).slice(0, MAX_ATTEMPTS);
  let pending = 0;
  let stagger: NodeJS.Timeout | undefined;
  let isOver = false;

  return withDeadline(
    limits.dialTimeoutMs,
    signal,
    (stop) =>
      new Promise<Dialled>((resolve) => {
        const settle = (dialled: Dialled) => {
          isOver = true;
          clearTimeout(stagger);
          resolve(dialled);
        };
        const next = () => {
          clearTimeout(stagger);
          const address = queue.shift();
          if (address === undefined) {
            if (pending === 0) settle({ ok: false, rule: 'dial-failed' });
            return;
          }
          pending += 1;
          stagger = setTimeout(next, limits.dialStaggerMs);
          attempt(dialer, address, port, stop).then(
            (socket) => {
              // A second winner, or one that came after the end: nobody will use it.
              if (isOver) socket.destroy();
              else settle({ ok: true, socket, address: address.text });
            },
            () => {
              pending -= 1;
              if (!isOver) next();
            },
          );
        };
        void whenAborted(stop).then(() => {
          if (!isOver) settle({ ok: false, rule: signal.aborted ? 'dial-failed' : 'dial-timeout' });
        });
        if (!stop.aborted) next();
      }),
  );
}

async function attempt(dialer: Dialer, address: CheckedAddress, port: number, signal: AbortSignal): Promise<Duplex> {
  return dialer(address.text, address.family, port, signal);
}

/** IPv6 first, then in turns. */
function inTurns(addresses: readonly CheckedAddress[]): CheckedAddress[] {
  const six = addresses.filter((address) => address.family === 6);
  const four = addresses.filter((address) => address.family === 4);
  const longest = Math.max(six.length, four.length);
  return Array.from({ length: longest }, (_, index) => [six[index], four[index]])
    .flat()
    .filter((address) => address !== undefined);
}
