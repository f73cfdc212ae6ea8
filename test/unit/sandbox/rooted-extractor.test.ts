import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import tarStream from 'tar-stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExtractOptions } from '../../../src/engine/ports/exporter.ts';
import { createRootedExtractor } from '../../../src/sandbox/export/rooted-extractor.ts';
import { type Extracted, extractAndRead, inPieces, WIDE_LIMITS } from '../../support/extracted-tree.ts';
import { paxEntry, sealHeader, TAR_END, tarArchive, tarEntry } from '../../support/tar-bytes.ts';

const LARGE = process.env.ROUNDTABLE_LARGE_TESTS === '1';

const limits = WIDE_LIMITS;
const nodeModules: NonNullable<ExtractOptions['skip']> = ({ name }) =>
  name === 'node_modules' || name.startsWith('node_modules/');

function extract(archive: Uint8Array, options: Partial<ExtractOptions> = {}): Promise<Extracted> {
  return extractAndRead(inPieces(archive, 4096), { limits, ...options });
}

async function reasonOf(archive: Uint8Array, options: Partial<ExtractOptions> = {}): Promise<string> {
  const extracted = await extract(archive, options);
  return extracted.ok ? 'ok' : extracted.error.reason;
}

async function pathsOf(archive: Uint8Array, options: Partial<ExtractOptions> = {}): Promise<string[]> {
  const extracted = await extract(archive, options);
  if (!extracted.ok) throw new Error(JSON.stringify(extracted.error));
  return extracted.report.files.map((file) => file.path).sort();
}

/** A stream that goes on for ever and counts what was taken from it. */
function endless(head: Uint8Array, body: Uint8Array): { stream: Readable; taken: () => number } {
  let taken = 0;
  const stream = Readable.from(
    (function* () {
      yield head;
      for (;;) {
        taken += body.length;
        yield body;
      }
    })(),
    { objectMode: false, highWaterMark: body.length },
  );
  return { stream, taken: () => taken };
}

describe('archives of real writers', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'rt-tar-'));
    const deep = path.join(directory, 'a'.repeat(120), 'b'.repeat(120));
    mkdirSync(deep, { recursive: true });
    writeFileSync(path.join(deep, 'ünï cödé.txt'), 'deep');
    writeFileSync(path.join(directory, 'run.sh'), '#!/bin/sh\n');
    chmodSync(path.join(directory, 'run.sh'), 0o700);
    writeFileSync(path.join(directory, 'large.bin'), Buffer.alloc(300_000, 7));
    mkdirSync(path.join(directory, 'empty'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it.each(['gnu', 'pax', 'posix'])('reads what GNU tar writes as --format=%s', async (format) => {
    const archive = execFileSync('tar', ['-C', directory, `--format=${format}`, '-cf', '-', '.'], {
      maxBuffer: 1 << 24,
    });
    const extracted = await extract(archive);
    if (!extracted.ok) throw new Error(JSON.stringify(extracted.error));
    expect([...extracted.files].map(([name, { size, mode }]) => [name, size, mode]).sort()).toEqual([
      [`${'a'.repeat(120)}/${'b'.repeat(120)}/ünï cödé.txt`, 4, '100644'],
      ['large.bin', 300_000, '100644'],
      ['run.sh', 10, '100755'],
    ]);
    expect(extracted.report.directories).toContain('empty');
    expect(extracted.report.totalBytes).toBe(300_014);
  });

  it('reads what tar-stream packs, long names in PAX records included', async () => {
    const pack = tarStream.pack();
    pack.entry({ name: `${'long/'.repeat(60)}file.txt` }, 'x');
    pack.entry({ name: 'dir/', type: 'directory' });
    pack.entry({ name: 'dir/run', mode: 0o755 }, 'y');
    pack.finalize();
    const extracted = await extractAndRead(Readable.from(pack), { limits });
    if (!extracted.ok) throw new Error(JSON.stringify(extracted.error));
    expect(extracted.report.files.map(({ path: name, executable }) => [name, executable])).toEqual([
      [`${'long/'.repeat(60)}file.txt`, false],
      ['dir/run', true],
    ]);
  });
});

describe('skipped entries', () => {
  it('cost nothing, whatever they are called and whatever type they have', async () => {
    const archive = tarArchive(
      tarEntry({ name: './', type: '5' }),
      tarEntry({ name: './node_modules/', type: '5' }),
      tarEntry({ name: './node_modules/.git', content: 'inside' }),
      tarEntry({ name: './node_modules/.bin/tool', type: '2', linkName: '../tool/cli.js' }),
      tarEntry({ name: './node_modules/hard', type: '1', linkName: 'node_modules/.git' }),
      paxEntry({ linkpath: `../${'far/'.repeat(60)}cli.js` }),
      tarEntry({ name: './node_modules/.bin/far', type: '2' }),
      tarEntry({ name: '././@LongLink', type: 'K', content: `../${'far/'.repeat(60)}cli.js\u0000` }),
      tarEntry({ name: '././@LongLink', type: 'L', content: `./node_modules/${'deep/'.repeat(30)}\u0000` }),
      tarEntry({ name: './node_modules/cut', type: '2', linkName: 'cut' }),
      tarEntry({ name: './node_modules/pipe', type: '6' }),
      tarEntry({ name: Buffer.from('./node_modules/\xff\xfe', 'latin1'), content: 'x'.repeat(5000) }),
      tarEntry({ name: './kept.txt', content: 'kept' }),
    );
    const extracted = await extract(archive, { skip: nodeModules, limits: { ...limits, maxEntries: 1 } });
    if (!extracted.ok) throw new Error(JSON.stringify(extracted.error));
    expect([...extracted.files.keys()]).toEqual(['kept.txt']);
    expect(extracted.report.skipped.count).toBe(8);
    expect(extracted.report.skipped.sample).toContain('node_modules/.bin/tool');
  });

  it('hear names without leading ./ and closing slash, and what kind they are', async () => {
    const asked: unknown[] = [];
    const archive = tarArchive(
      tarEntry({ name: './a/', type: '5' }),
      tarEntry({ name: './a/b', content: 'x' }),
      tarEntry({ name: './a/c', type: '2', linkName: 'b' }),
    );
    await extract(archive, {
      skip: async (entry) => {
        asked.push(entry);
        return entry.kind === 'other';
      },
    });
    expect(asked).toEqual([
      { name: 'a', kind: 'directory' },
      { name: 'a/b', kind: 'file' },
      { name: 'a/c', kind: 'other' },
    ]);
  });

  it('still have to be structurally sound', async () => {
    const broken = tarEntry({ name: 'node_modules/x', content: 'x' });
    broken[0] = 0x7a;
    expect(await reasonOf(tarArchive(broken), { skip: nodeModules })).toBe('header_checksum');
    const link = tarEntry({ name: 'node_modules/l', type: '2', linkName: 'x', content: 'hidden' });
    expect(await reasonOf(tarArchive(link), { skip: nodeModules })).toBe('size_invalid');
    const sparse = tarEntry({ name: 'node_modules/s', type: 'S', content: 'x' });
    expect(await reasonOf(tarArchive(sparse), { skip: nodeModules })).toBe('entry_sparse');
    const conflict = tarArchive(paxEntry({ size: '5' }), tarEntry({ name: 'node_modules/c', content: 'x' }));
    expect(await reasonOf(conflict, { skip: nodeModules })).toBe('size_conflict');
  });

  it('do not excuse link metadata on an entry that is kept', async () => {
    const archive = tarArchive(paxEntry({ linkpath: '/etc/passwd' }), tarEntry({ name: 'kept', content: 'x' }));
    expect(await reasonOf(archive, { skip: nodeModules })).toBe('entry_link');
    const gnu = tarArchive(tarEntry({ name: 'L', type: 'K', content: 'x\u0000' }), tarEntry({ name: 'kept' }));
    expect(await reasonOf(gnu, { skip: nodeModules })).toBe('entry_link');
  });
});

describe('symbolic links of the base', () => {
  const target = `../${'far/'.repeat(60)}x`;
  const isUnchangedLink = (name: string, to: string): boolean => name === 'link' && (to === 'x' || to === target);

  it('are noted and not written when path and target are the same, long targets included', async () => {
    for (const archive of [
      tarArchive(tarEntry({ name: 'link', type: '2', linkName: 'x' }), tarEntry({ name: 'x', content: 'y' })),
      tarArchive(paxEntry({ linkpath: target }), tarEntry({ name: 'link', type: '2' }), tarEntry({ name: 'x' })),
      tarArchive(
        tarEntry({ name: '././@LongLink', type: 'K', content: `${target}\u0000` }),
        tarEntry({ name: 'link', type: '2', linkName: target.slice(0, 100) }),
        tarEntry({ name: 'x' }),
      ),
    ]) {
      const extracted = await extract(archive, { isUnchangedLink });
      if (!extracted.ok) throw new Error(JSON.stringify(extracted.error));
      expect(extracted.report.links).toHaveLength(1);
      expect([...extracted.files.keys()]).toEqual(['x']);
    }
  });

  it('refuse the export when the target changed, or when something lies below or on top of one', async () => {
    const link = tarEntry({ name: 'link', type: '2', linkName: 'x' });
    const changed = tarEntry({ name: 'link', type: '2', linkName: '/etc' });
    expect(await reasonOf(tarArchive(changed), { isUnchangedLink })).toBe('entry_symlink');
    expect(await reasonOf(tarArchive(link))).toBe('entry_symlink');
    expect(await reasonOf(tarArchive(link, tarEntry({ name: 'link/y' })), { isUnchangedLink })).toBe('path_conflict');
    expect(await reasonOf(tarArchive(link, link), { isUnchangedLink })).toBe('path_duplicate');
  });
});

describe('bombs', () => {
  it('refuses a huge announced size at the header, before any data is taken', async () => {
    const head = tarEntry({ name: 'huge', announcedSize: 8_589_934_591 });
    const { stream, taken } = endless(head.subarray(0, 512), Buffer.alloc(65_536));
    const extracted = await extractAndRead(stream, { limits });
    expect(extracted.ok ? '' : extracted.error.reason).toBe('file_too_large');
    expect(taken()).toBeLessThanOrEqual(4 * 65_536);
    expect(stream.destroyed).toBe(true);
  });

  it.each([
    ['zeros after the end', TAR_END, Buffer.alloc(1 << 20), 'trailing_data'],
    ['global headers', new Uint8Array(0), paxEntry({ comment: 'x' }, 'g'), 'too_many_entries'],
    ['one file again and again', new Uint8Array(0), tarEntry({ name: 'a' }), 'path_duplicate'],
    ['the root again and again', new Uint8Array(0), tarEntry({ name: './', type: '5' }), 'path_duplicate'],
    ['skipped data', new Uint8Array(0), tarEntry({ name: 'node_modules/a', content: 'x' }), 'skipped_too_large'],
  ])('ends an endless stream of %s', async (_, head, body, reason) => {
    const extracted = await extractAndRead(endless(head, body).stream, {
      limits: { ...limits, maxEntries: 1000 },
      skip: nodeModules,
    });
    expect(extracted.ok ? '' : extracted.error.reason).toBe(reason);
  });

  it('bounds the directories that long paths imply', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `${index}/${'d/'.repeat(100)}f`);
    const archive = tarArchive(
      ...names.map((name) => Buffer.concat([paxEntry({ path: name }), tarEntry({ name: 'x' })])),
    );
    expect(await reasonOf(archive, { limits: { ...limits, maxEntries: 5000 } })).toBe('too_many_entries');
  });

  const count = LARGE ? 100_000 : 5_000;
  it(`extracts ${count} files in bounded memory`, async () => {
    const stream = Readable.from(
      (function* () {
        for (let index = 0; index < count; index++) {
          yield tarEntry({ name: `d${index % 100}/f${index}.txt`, content: 'x'.repeat(100) });
        }
        yield TAR_END;
      })(),
      { objectMode: false },
    );
    const above = await mkdtemp(path.join(os.tmpdir(), 'rt-many-'));
    const before = process.memoryUsage().rss;
    try {
      const many = { ...limits, maxEntries: count };
      const answer = await createRootedExtractor().extract(stream, path.join(above, 'out'), { limits: many });
      expect(answer.ok && answer.value.files.length).toBe(count);
      // The report and the names take some hundred bytes a file; the archive alone would be 1 kB a file.
      expect(process.memoryUsage().rss - before).toBeLessThan(80 * 1024 * 1024 + count * 1000);
    } finally {
      await rm(above, { recursive: true, force: true });
    }
  });

  it('takes no more from the stream than it has written, but for what a stream holds back anyway', async () => {
    const size = 16 * 1024 * 1024;
    const piece = 65_536;
    const above = await mkdtemp(path.join(os.tmpdir(), 'rt-big-'));
    const written = path.join(above, 'out', 'big');
    let made = 0;
    let furthestAhead = 0;
    const stream = new Readable({
      highWaterMark: piece,
      read() {
        if (made === 0) this.push(tarEntry({ name: 'big', announcedSize: size }).subarray(0, 512));
        furthestAhead = Math.max(furthestAhead, made - (statSync(written, { throwIfNoEntry: false })?.size ?? 0));
        if (made < size) this.push(Buffer.alloc(piece, 1));
        else this.push(made === size ? TAR_END : null);
        made += piece;
      },
    });
    try {
      const wide = { ...limits, maxFileBytes: size, maxTotalBytes: size };
      const answer = await createRootedExtractor().extract(stream, path.join(above, 'out'), { limits: wide });
      expect(answer.ok && answer.value.totalBytes).toBe(size);
      expect(furthestAhead).toBeLessThanOrEqual(4 * piece);
    } finally {
      await rm(above, { recursive: true, force: true });
    }
  });
});

describe('refusals', () => {
  it('name the entry and say what to do', async () => {
    const extracted = await extract(tarArchive(tarEntry({ name: 'src/../../x', content: 'x' })));
    expect(extracted).toMatchObject({
      ok: false,
      error: { code: 'export_refused', reason: 'path_dotdot', entry: 'src/../../x' },
    });
    expect(extracted.ok ? '' : extracted.error.remedy).not.toBe('');
  });

  it('leave a directory alone that was there before', async () => {
    const above = await mkdtemp(path.join(os.tmpdir(), 'rt-there-'));
    try {
      await writeFile(path.join(above, 'mine'), 'precious');
      const archive = inPieces(tarArchive(tarEntry({ name: 'x' })), 512);
      const answer = await createRootedExtractor().extract(archive, above, { limits });
      expect(answer).toMatchObject({ ok: false, error: { reason: 'target_exists' } });
      expect(await readdir(above)).toEqual(['mine']);
    } finally {
      await rm(above, { recursive: true, force: true });
    }
  });

  it('come as values when the stream breaks, ends early, or the export is cancelled', async () => {
    const head = tarEntry({ name: 'a', announcedSize: 1000 }).subarray(0, 512);
    const broken = Readable.from(
      (function* () {
        yield head;
        throw new Error('connection reset');
      })(),
      { objectMode: false },
    );
    expect(await extractAndRead(broken, { limits })).toMatchObject({ error: { reason: 'stream_failed' } });
    expect(await reasonOf(head)).toBe('truncated');

    const cancel = new AbortController();
    const waiting = new Readable({ read() {} });
    waiting.push(head);
    const answer = extractAndRead(waiting, { limits, signal: cancel.signal });
    setImmediate(() => cancel.abort());
    expect(await answer).toMatchObject({ error: { reason: 'aborted' } });

    const before = extractAndRead(inPieces(tarArchive(tarEntry({ name: 'a' })), 512), {
      limits,
      signal: AbortSignal.abort(),
    });
    expect(await before).toMatchObject({ error: { reason: 'aborted' } });
  });

  it('cover names that only metadata or normalisation make equal', async () => {
    const twice = tarArchive(tarEntry({ name: 'a' }), paxEntry({ path: './a' }), tarEntry({ name: 'b' }));
    expect(await reasonOf(twice)).toBe('path_duplicate');
    const directories = tarArchive(tarEntry({ name: 'e\u0301/a' }), tarEntry({ name: '\u00e9/b' }));
    expect(await reasonOf(directories)).toBe('collision_nfc');
    const cases = tarArchive(tarEntry({ name: 'Src/a' }), tarEntry({ name: 'src/b' }));
    expect(await reasonOf(cases)).toBe('collision_case');
  });

  it('come for a header whose checksum is right and whose fields are not', async () => {
    const odd = tarEntry({ name: 'a' });
    odd[50] = 0x78; // behind the NUL of the name
    sealHeader(odd);
    expect(await reasonOf(tarArchive(odd))).toBe('header_field_invalid');
  });

  it('do not come for an ordinary archive', async () => {
    expect(await pathsOf(tarArchive(tarEntry({ name: 'a/b', content: 'x' }), tarEntry({ name: 'c' })))).toEqual([
      'a/b',
      'c',
    ]);
  });
});
