import type { Duplex } from 'node:stream';
import type { ByteBudget } from './budget.ts';

/** `cut`: the signal fired. The others as in the decision record. */
export type RelayEnd = 'finished' | 'broken' | 'idle' | 'byte-limit' | 'cut';

export interface RelayOptions {
  readonly idleTimeoutMs: number;
  readonly budget: ByteBudget;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Told of octets when they are handed to the other side. */
  readonly onBytes: (direction: 'up' | 'down', bytes: number) => void;
}

/**
 * Passes octets both ways until both sides have finished. A slow reader stops the other side's reading (nothing piles
 * up here), one side's end is passed on while the other goes on, and however it ends both sockets are destroyed.
 * `firstOctets` were read from the client before and go first. Either side may have ended before this is called.
 */
export async function relay(
  client: Duplex,
  upstream: Duplex,
  firstOctets: readonly Buffer[],
  options: RelayOptions,
): Promise<RelayEnd> {
  const timers = new Set<NodeJS.Timeout>();
  let activeAtMs = options.now();
  let idleTimer: NodeJS.Timeout | undefined;
  let openDirections = 2;

  try {
    return await new Promise<RelayEnd>((end) => {
      const watchIdle = (waitMs: number) => {
        idleTimer = setTimeout(() => {
          const leftMs = activeAtMs + options.idleTimeoutMs - options.now();
          if (leftMs <= 0) end('idle');
          else watchIdle(leftMs);
        }, waitMs);
      };
      watchIdle(options.idleTimeoutMs);
      options.signal.addEventListener('abort', () => end('cut'), { once: true });
      if (options.signal.aborted) end('cut');

      const carry = (from: Duplex, to: Duplex, direction: 'up' | 'down', first: readonly Buffer[]) => {
        let isDraining = false;
        let isSlowed = false;
        const resume = () => {
          if (!isDraining && !isSlowed) from.resume();
        };
        const pass = (chunk: Buffer) => {
          activeAtMs = options.now();
          if (!options.budget.take(chunk.length)) {
            from.pause();
            end('byte-limit');
            return;
          }
          options.onBytes(direction, chunk.length);
          isDraining = !to.write(chunk);
          const waitMs = options.budget.pauseMs(chunk.length, activeAtMs);
          if (waitMs >= 1) {
            isSlowed = true;
            const timer = setTimeout(() => {
              timers.delete(timer);
              isSlowed = false;
              // Waiting for its turn is no idleness of the tunnel.
              activeAtMs = options.now();
              resume();
            }, waitMs);
            timers.add(timer);
          }
          if (isDraining || isSlowed) from.pause();
        };
        to.on('drain', () => {
          activeAtMs = options.now();
          isDraining = false;
          resume();
        });
        to.on('finish', () => {
          openDirections -= 1;
          if (openDirections === 0) end('finished');
        });
        // A socket that closed in order has ended and finished before; anything else broke off.
        from.on('close', () => {
          if (!(from.readableEnded && from.writableFinished)) end('broken');
        });
        if (from.destroyed || to.destroyed) {
          end('broken');
          return;
        }
        for (const chunk of first) pass(chunk);
        from.on('data', pass);
        if (from.readableEnded) to.end();
        else from.on('end', () => to.end());
        resume();
      };
      carry(client, upstream, 'up', firstOctets);
      carry(upstream, client, 'down', []);
    });
  } finally {
    clearTimeout(idleTimer);
    for (const timer of timers) clearTimeout(timer);
    client.destroy();
    upstream.destroy();
  }
}
