import { createHash } from 'node:crypto';
import type { ExtractLimits } from '../../src/engine/ports/exporter.ts';
import { type Extracted, extractAndRead, type FileOnDisk, inPieces, WIDE_LIMITS } from '../support/extracted-tree.ts';
import { TAR_END, tarEntry } from '../support/tar-bytes.ts';
import { readCases } from './case-file.ts';
import { type CaseResult, type ExpectedVerdict, type VectorFamily, verdictDifference } from './family.ts';

interface Recipe {
  readonly repeat: {
    readonly count: number;
    readonly type: 'file' | 'directory';
    readonly name: string;
    readonly content?: string;
  };
  readonly tar_sha256: string;
}

interface TarCase {
  readonly id: string;
  readonly tar_base64?: string;
  readonly recipe?: Recipe;
  readonly limits?: Partial<
    Record<'max_entries' | 'max_entry_bytes' | 'max_total_bytes' | 'max_depth' | 'max_header_bytes', number>
  >;
  readonly expect: ExpectedVerdict & {
    readonly files?: Readonly<Record<string, FileOnDisk>> | null;
    readonly dirs?: readonly string[] | null;
    readonly file_count?: number;
    readonly total_bytes?: number;
    readonly listing_sha256?: string;
  };
}

export const family: VectorFamily = {
  name: 'tar',
  async *run(directory, onMissing) {
    for (const one of await readCases<TarCase>(directory, 'tar/tar.json', onMissing)) yield await check(one);
  },
};

/** Small archives are fed in every way; of the large ones two ways are enough, and a minute is not. */
const PIECES = [Number.POSITIVE_INFINITY, 1, 7, 511, 512, 513];
const LARGE_BYTES = 1024 * 1024;
const PIECES_OF_LARGE = [Number.POSITIVE_INFINITY, 513];

async function check(one: TarCase): Promise<CaseResult> {
  const archive = one.recipe === undefined ? Buffer.from(one.tar_base64 ?? '', 'base64') : build(one.recipe);
  for (const pieceBytes of archive.length > LARGE_BYTES ? PIECES_OF_LARGE : PIECES) {
    const extracted = await extractAndRead(inPieces(archive, pieceBytes), { limits: limitsOf(one) });
    const difference = differenceFrom(one.expect, extracted);
    if (difference !== null) return { id: one.id, ok: false, detail: `in pieces of ${pieceBytes}: ${difference}` };
  }
  return { id: one.id, ok: true, detail: '' };
}

function limitsOf({ limits = {} }: TarCase): ExtractLimits {
  return {
    maxEntries: limits.max_entries ?? WIDE_LIMITS.maxEntries,
    maxFileBytes: limits.max_entry_bytes ?? WIDE_LIMITS.maxFileBytes,
    maxTotalBytes: limits.max_total_bytes ?? WIDE_LIMITS.maxTotalBytes,
    maxDepth: limits.max_depth ?? WIDE_LIMITS.maxDepth,
    maxHeaderBytes: limits.max_header_bytes ?? WIDE_LIMITS.maxHeaderBytes,
  };
}

function differenceFrom(expect: TarCase['expect'], extracted: Extracted): string | null {
  const verdict = verdictDifference(expect, extracted.ok ? null : extracted.error.reason);
  if (verdict !== null || !extracted.ok) return verdict;
  const { files, report } = extracted;
  if (report.files.length !== files.size) return `${report.files.length} files reported, ${files.size} on disk`;
  for (const { path, bytes, executable } of report.files) {
    const onDisk = files.get(path);
    if (onDisk?.size !== bytes || onDisk.mode !== (executable ? '100755' : '100644'))
      return `reported wrongly: ${path}`;
  }
  if (expect.files && listing(new Map(Object.entries(expect.files))) !== listing(files)) {
    return `expected ${JSON.stringify(expect.files)}, got ${JSON.stringify([...files])}`;
  }
  if (expect.dirs && [...expect.dirs].sort().join('\n') !== [...report.directories].sort().join('\n')) {
    return `expected directories ${expect.dirs.join()}, got ${report.directories.join()}`;
  }
  const totals: readonly [string, unknown, unknown][] = [
    ['file_count', expect.file_count, files.size],
    ['total_bytes', expect.total_bytes, report.totalBytes],
    ['listing_sha256', expect.listing_sha256, createHash('sha256').update(listing(files)).digest('hex')],
  ];
  const wrong = totals.find(([, expected, actual]) => expected !== undefined && expected !== actual);
  return wrong === undefined ? null : `${wrong[0]}: expected ${wrong[1]}, got ${wrong[2]}`;
}

/** `mode size sha256 path` lines in the order of the path's bytes. */
function listing(files: ReadonlyMap<string, FileOnDisk>): string {
  return [...files]
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([path, { mode, size, sha256 }]) => `${mode} ${size} ${sha256} ${path}\n`)
    .join('');
}

function build({ repeat, tar_sha256 }: Recipe): Uint8Array {
  const entries = Array.from({ length: repeat.count }, (_, index) => {
    const counter = String(index).padStart(5, '0');
    return tarEntry({
      name: repeat.name.replaceAll('{i}', counter),
      type: repeat.type === 'directory' ? '5' : '0',
      content: (repeat.content ?? '').replaceAll('{i}', counter),
    });
  });
  const archive = Buffer.concat([...entries, TAR_END]);
  const digest = createHash('sha256').update(archive).digest('hex');
  if (digest !== tar_sha256) throw new Error(`the recipe gave ${digest}, not ${tar_sha256}`);
  return archive;
}
