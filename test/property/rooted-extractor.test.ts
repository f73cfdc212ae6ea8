import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalizePath } from '../../src/engine/domain/path.ts';
import { type Extracted, extractAndRead, inPieces, WIDE_LIMITS } from '../support/extracted-tree.ts';
import { paxEntry, sealHeader, TAR_END, tarEntry } from '../support/tar-bytes.ts';

const LIMITS = { ...WIDE_LIMITS, maxEntries: 50, maxFileBytes: 4096, maxTotalBytes: 16_384 };
const PIECES = [Number.POSITIVE_INFINITY, 511, 100];

const name = fc.constantFrom(
  'a',
  'b/c',
  'b/d',
  'dir/',
  'dir/e',
  '../x',
  '/etc/x',
  'A',
  'é',
  'e\u0301',
  '.git/x',
  './f',
  'a/g',
);
const content = fc.string({ maxLength: 700 });
const type = fc.constantFrom('0', '0', '0', '0', '5', '2', '1', 'K', 'S', 'V');
const entry = fc.oneof(
  { weight: 5, arbitrary: fc.record({ name, content, type }).map((parts) => tarEntry(parts)) },
  { weight: 1, arbitrary: fc.record({ name }).map(({ name: path }) => paxEntry({ path })) },
  { weight: 1, arbitrary: name.map((long) => tarEntry({ name: 'L', type: 'L', content: `${long}\u0000` })) },
  { weight: 1, arbitrary: fc.nat(5000).map((size) => paxEntry({ size: String(size) })) },
);
const validEntry = fc
  .record({ path: fc.constantFrom('a', 'b/c', 'b/d', 'dir/e', 'é', 'x y/z'), content, pax: fc.boolean() })
  .map(({ path, content: data, pax }) =>
    pax
      ? Buffer.concat([paxEntry({ path }), tarEntry({ name: 'n', content: data })])
      : tarEntry({ name: path, content: data }),
  );

/** A byte that is changed, or a cut, with the checksum of its block put right again or not. */
interface Mutation {
  readonly at: number;
  readonly byte: number;
  readonly reseal: boolean;
  readonly cut: boolean;
}
const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(1 << 16),
  byte: fc.nat(255),
  reseal: fc.boolean(),
  cut: fc.boolean(),
});

function mutate(archive: Uint8Array, mutations: readonly Mutation[]): Uint8Array {
  let mutated = Uint8Array.from(archive);
  for (const { at, byte, reseal, cut } of mutations) {
    const position = at % mutated.length;
    mutated[position] = byte;
    const header = position - (position % 512);
    if (reseal && header + 512 <= mutated.length) sealHeader(mutated.subarray(header, header + 512));
    if (cut && at % 7 === 0) mutated = mutated.slice(0, Math.max(1, position));
  }
  return mutated;
}

/** What can be said of an outcome in one comparable value. */
function outcome(extracted: Extracted): unknown {
  return extracted.ok ? { files: [...extracted.files].sort(), report: extracted.report } : extracted.error;
}

/** `extractAndRead` throws when anything lands beside the target or stays after a refusal. */
async function sameInAllPieces(archive: Uint8Array): Promise<Extracted> {
  const [whole, ...others] = await Promise.all(
    PIECES.map((bytes) => extractAndRead(inPieces(archive, bytes), { limits: LIMITS })),
  );
  if (whole === undefined) throw new Error('no pieces');
  for (const other of others) expect(outcome(other)).toEqual(outcome(whole));
  return whole;
}

describe('the rooted extractor', () => {
  it('stays inside its directory and answers the same in all pieces, for arbitrary sequences of entries', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 5 }), async (entries) => {
        const extracted = await sameInAllPieces(Buffer.concat([...entries, TAR_END]));
        if (!extracted.ok) return;
        for (const file of extracted.report.files) expect(normalizePath('file', file.path).ok).toBe(true);
        expect([...extracted.files.keys()].sort()).toEqual(extracted.report.files.map((file) => file.path).sort());
      }),
      { numRuns: 150, interruptAfterTimeLimit: 8_000 },
    );
  });

  it('never crashes on a damaged archive and never takes it for more than it held', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(validEntry, { minLength: 1, maxLength: 4 }),
        fc.array(mutation, { minLength: 1, maxLength: 4 }),
        async (entries, mutations) => {
          const archive = mutate(Buffer.concat([...entries, TAR_END]), mutations);
          const extracted = await sameInAllPieces(archive);
          if (!extracted.ok) expect(extracted.error.remedy).not.toBe('');
          else expect(extracted.report.totalBytes).toBeLessThanOrEqual(archive.length);
        },
      ),
      { numRuns: 200, interruptAfterTimeLimit: 8_000 },
    );
  });

  it('answers for any bytes at all', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 1500 }), async (bytes) => {
        const extracted = await sameInAllPieces(bytes);
        expect(extracted.ok).toBe(bytes.length >= 1024 && bytes.every((byte) => byte === 0));
      }),
      { numRuns: 100, interruptAfterTimeLimit: 5_000 },
    );
  });
});
