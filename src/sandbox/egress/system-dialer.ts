/** TCP by number. Trusts that the address was checked; a name can't be dialled, because looking one up throws. */
import { createConnection, type Socket } from 'node:net';
import type { Dialer } from './dial.ts';

export const systemDialer: Dialer = (host, family, port, signal) =>
  new Promise<Socket>((resolve, reject) => {
    if (signal.aborted) {
      reject(new Error('dialling was given up'));
      return;
    }
    const socket = createConnection({
      host,
      family,
      port,
      allowHalfOpen: true,
      autoSelectFamily: false,
      lookup: refuseLookup,
    });
    const giveUp = () => socket.destroy(new Error('dialling was given up'));
    signal.addEventListener('abort', giveUp, { once: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      signal.removeEventListener('abort', giveUp);
      socket.off('error', reject);
      socket.setNoDelay(true);
      resolve(socket);
    });
  });

function refuseLookup(name: string): never {
  throw new Error(`the egress gateway never dials by name (${name})`);
}
