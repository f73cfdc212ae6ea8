import type { Duplex } from 'node:stream';

export type NextChunk = Buffer | 'end' | 'closed' | 'aborted';

/** Pulls chunks from a socket one at a time, so that nothing is read ahead of a decision. */
export interface ChunkSource {
  /** The next chunk, or why there is none: the peer finished, the socket broke, or the signal fired. */
  next(signal: AbortSignal): Promise<NextChunk>;
  /** Puts octets back to the front of the stream. */
  putBack(chunk: Buffer): void;
  /** Stops listening and leaves the socket paused. Returns what was put back or had come and nobody took. */
  release(): Buffer[];
}

export function createChunkSource(socket: Duplex): ChunkSource {
  let ready: Buffer[] = [];
  let over: 'end' | 'closed' | null = null;
  let wake: (() => void) | null = null;

  const onData = (chunk: Buffer) => {
    socket.pause();
    ready.push(chunk);
    wake?.();
  };
  const onEnd = () => {
    over ??= 'end';
    wake?.();
  };
  const onClose = () => {
    over = 'closed';
    wake?.();
  };
  socket.pause();
  socket.on('data', onData).on('end', onEnd).on('close', onClose);

  return {
    async next(signal) {
      if (ready.length === 0 && over === null && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = () => {
            signal.removeEventListener('abort', resume);
            resolve();
          };
          const resume = wake;
          signal.addEventListener('abort', resume);
          socket.resume();
        });
        wake = null;
        socket.pause();
      }
      const chunk = ready.shift();
      if (chunk !== undefined) return chunk;
      return signal.aborted ? 'aborted' : (over ?? 'closed');
    },
    putBack(chunk) {
      if (chunk.length > 0) ready.unshift(chunk);
    },
    release() {
      socket.pause();
      socket.off('data', onData).off('end', onEnd).off('close', onClose);
      const left = ready;
      ready = [];
      return left;
    },
  };
}
