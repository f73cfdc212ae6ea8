import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { demultiplex } from '../../../src/sandbox/containers/demultiplex.ts';
import { text } from '../../support/room.ts';

function frame(stream: 1 | 2, body: string): Buffer {
  const bytes = Buffer.from(body);
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

describe('splitting the stream of a process', () => {
  it('separates the outputs however the bytes are cut into chunks', async () => {
    const whole = Buffer.concat([frame(1, 'one '), frame(2, 'bad'), frame(1, ''), frame(1, 'two')]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 60 }), async (sizes) => {
        const chunks: Buffer[] = [];
        for (let at = 0, n = 0; at < whole.length; n += 1) {
          const size = sizes[n % sizes.length] ?? 1;
          chunks.push(whole.subarray(at, at + size));
          at += size;
        }
        const { stdout, stderr, ended } = demultiplex(Readable.from(chunks));
        expect(await Promise.all([text(stdout), text(stderr), ended])).toEqual(['one two', 'bad', 'complete']);
      }),
      { numRuns: 100 },
    );
  });

  it('says when the stream ends within a frame', async () => {
    const { stdout, stderr, ended } = demultiplex(Readable.from([frame(1, 'whole'), frame(1, 'part').subarray(0, 10)]));
    expect(await Promise.all([text(stdout), text(stderr), ended])).toEqual(['wholepa', '', 'cut']);
  });

  it('stops reading while nobody consumes', async () => {
    const source = new PassThrough({ highWaterMark: 1024 });
    const { stdout, stderr } = demultiplex(source);
    const body = frame(1, 'x'.repeat(32 * 1024));
    let written = 0;
    while (written < 1024 && source.write(body)) {
      written += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await new Promise((resolve) => setImmediate(resolve));
    // One output buffer (64 KiB) and the source's own; not the 32 MiB that were on offer.
    expect(written).toBeLessThan(16);
    expect(stdout.readableLength).toBeLessThanOrEqual(128 * 1024);
    source.end();
    stderr.resume();
    expect((await text(stdout)).length).toBe((written + 1) * 32 * 1024);
  });

  it('passes over an output whose reader has left, and goes on with the other', async () => {
    const { stdout, stderr, ended } = demultiplex(
      Readable.from([frame(1, 'y'.repeat(200_000)), frame(2, 'still here'), frame(1, 'z'.repeat(200_000))]),
    );
    stdout.destroy();
    expect(await Promise.all([text(stderr), ended])).toEqual(['still here', 'complete']);
  });

  it('rejects with the error of the stream, and ends the outputs', async () => {
    const source = new PassThrough();
    const { stdout, stderr, ended } = demultiplex(source);
    source.write(frame(1, 'seen'));
    source.destroy(new Error('connection reset'));
    await expect(ended).rejects.toThrow('connection reset');
    expect(await Promise.all([text(stdout), text(stderr)])).toBeDefined();
  });
});
