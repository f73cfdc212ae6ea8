/**
 * Pulls bytes from a stream, so that reading faster than writing is impossible. Trusts nothing about the size of pieces;
 * holds one piece of the stream at a time and never reserves what somebody announced.
 */
import type { Readable } from 'node:stream';
import { RefusedArchive } from './refused-archive.ts';

export class ByteSource {
  readonly #stream: Readable;
  readonly #signal: AbortSignal | undefined;
  readonly #pieces: AsyncIterator<unknown>;
  #piece: Uint8Array = new Uint8Array(0);
  #failure: unknown = null;

  constructor(stream: Readable, signal?: AbortSignal) {
    this.#stream = stream;
    this.#signal = signal;
    // Between two reads nobody else listens: without this an error of the engine's connection would end the process.
    stream.on('error', this.#remember);
    signal?.addEventListener('abort', this.#abort, { once: true });
    if (signal?.aborted) this.#abort();
    this.#pieces = stream[Symbol.asyncIterator]();
  }

  /** The next bytes, at least one and at most `maxBytes`; null at the end. Valid until the next call. */
  async read(maxBytes: number): Promise<Uint8Array | null> {
    if (this.#piece.length === 0 && !(await this.#refill())) return null;
    if (this.#signal?.aborted) throw new RefusedArchive('aborted');
    const taken = this.#piece.subarray(0, maxBytes);
    this.#piece = this.#piece.subarray(taken.length);
    return taken;
  }

  /** Exactly `bytes` bytes, which the caller has bounded; less only at the end. */
  async readFully(bytes: number): Promise<Uint8Array> {
    const first = bytes === 0 ? null : await this.read(bytes);
    if (first === null) return new Uint8Array(0);
    if (first.length === bytes) return first;
    const parts = [first];
    let missing = bytes - first.length;
    while (missing > 0) {
      const part = await this.read(missing);
      if (part === null) break;
      parts.push(part);
      missing -= part.length;
    }
    return Buffer.concat(parts);
  }

  /** Ends the stream. What happens on it afterwards is of no interest. */
  close(): void {
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#stream.destroy();
  }

  async #refill(): Promise<boolean> {
    try {
      if (this.#failure !== null) throw this.#failure;
      for (;;) {
        const { done, value } = await this.#pieces.next();
        if (done) return false;
        if (!(value instanceof Uint8Array)) throw new TypeError('an archive is a stream of bytes');
        if (value.length === 0) continue;
        this.#piece = value;
        return true;
      }
    } catch (cause) {
      if (cause instanceof TypeError) throw cause;
      throw new RefusedArchive(this.#signal?.aborted ? 'aborted' : 'stream_failed', null, { cause });
    }
  }

  readonly #remember = (error: unknown): void => {
    this.#failure = error;
  };

  readonly #abort = (): void => {
    this.#stream.destroy(new Error('the export was cancelled'));
  };
}
