import type { Duplex } from 'node:stream';
import { LINGER_BYTES, LINGER_MS } from './limits.ts';

/**
 * Sends a last answer and closes. What the client still sends is read and dropped for a moment: closing a socket with
 * unread input resets it, and the client would lose the answer. Resolves when the socket is gone.
 */
export function closeWithAnswer(socket: Duplex, answer: string | null, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let dropped = 0;
    const destroy = () => socket.destroy();
    const timer = setTimeout(destroy, LINGER_MS);
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', destroy);
      resolve();
    };
    if (socket.closed) {
      finish();
      return;
    }
    socket.once('close', finish);
    if (signal.aborted) destroy();
    signal.addEventListener('abort', destroy, { once: true });
    socket.on('data', (chunk: Buffer) => {
      dropped += chunk.length;
      if (dropped > LINGER_BYTES) destroy();
    });
    if (signal.aborted) return;
    if (answer === null) socket.end();
    else socket.end(answer);
    socket.resume();
  });
}
