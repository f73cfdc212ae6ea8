import { PassThrough, type Readable } from 'node:stream';

/** Outputs of a process whose engine stream is read as fast as they are consumed, and no faster. */
export interface Demultiplexed {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** `complete` when the stream ended between two frames, `cut` when it ended within one. Rejects with the stream's error. */
  readonly ended: Promise<'complete' | 'cut'>;
}

const HEADER_BYTES = 8;
const STDERR = 2;
const BUFFER_BYTES = 64 * 1024;

/**
 * Splits the engine's multiplexed stream (8-byte header: stream, three zero bytes, big-endian length; then the bytes).
 * The client's own splitter buffers without bound. An output that was destroyed by its reader is passed over.
 */
export function demultiplex(source: Readable): Demultiplexed {
  const stdout = new PassThrough({ highWaterMark: BUFFER_BYTES });
  const stderr = new PassThrough({ highWaterMark: BUFFER_BYTES });
  const ended = pump(source, stdout, stderr);
  const finish = () => {
    stdout.end();
    stderr.end();
  };
  ended.then(finish, finish);
  return { stdout, stderr, ended };
}

async function pump(source: Readable, stdout: PassThrough, stderr: PassThrough): Promise<'complete' | 'cut'> {
  let header = Buffer.alloc(0);
  let target = stdout;
  let left = 0;
  for await (const data of source) {
    let chunk: Buffer = data;
    while (chunk.length > 0) {
      if (left === 0) {
        const part = chunk.subarray(0, HEADER_BYTES - header.length);
        header = Buffer.concat([header, part]);
        chunk = chunk.subarray(part.length);
        if (header.length < HEADER_BYTES) continue;
        target = header[0] === STDERR ? stderr : stdout;
        left = header.readUInt32BE(4);
        header = Buffer.alloc(0);
        continue;
      }
      const part = chunk.subarray(0, left);
      chunk = chunk.subarray(part.length);
      left -= part.length;
      if (!target.destroyed && !target.write(part)) await drained(target);
    }
  }
  return left === 0 && header.length === 0 ? 'complete' : 'cut';
}

function drained(target: PassThrough): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      target.off('drain', settle);
      target.off('close', settle);
      resolve();
    };
    target.on('drain', settle);
    target.on('close', settle);
  });
}
