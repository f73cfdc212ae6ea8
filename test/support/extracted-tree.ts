import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { ExtractOptions, ExtractRefusal, ExtractReport } from '../../src/engine/ports/exporter.ts';
import { createRootedExtractor } from '../../src/sandbox/export/rooted-extractor.ts';

export interface FileOnDisk {
  readonly size: number;
  readonly sha256: string;
  /** `100644`, `100755`, or the octal mode that is really there. */
  readonly mode: string;
}

export type Extracted =
  | { readonly ok: true; readonly report: ExtractReport; readonly files: ReadonlyMap<string, FileOnDisk> }
  | { readonly ok: false; readonly error: ExtractRefusal };

export const WIDE_LIMITS: ExtractOptions['limits'] = {
  maxEntries: 20_000,
  maxFileBytes: 10_485_760,
  maxTotalBytes: 268_435_456,
  maxDepth: 128,
  maxHeaderBytes: 65_536,
};

/**
 * Extracts a stream into a directory of its own, reads back what is on disk and removes it. Throws when a refusal leaves
 * anything behind, or when anything appears beside the target: that is never what a test expects.
 */
export async function extractAndRead(archive: Readable, options: ExtractOptions): Promise<Extracted> {
  const above = await mkdtemp(path.join(os.tmpdir(), 'rt-extract-'));
  const target = path.join(above, 'target');
  try {
    const answer = await createRootedExtractor().extract(archive, target, options);
    const beside = await readdir(above);
    if (beside.join() !== (answer.ok ? 'target' : '')) throw new Error(`found beside the target: ${beside.join()}`);
    if (!answer.ok) return answer;
    return { ok: true, report: answer.value, files: await filesBelow(target) };
  } finally {
    await rm(above, { recursive: true, force: true });
  }
}

/** The bytes as a stream of pieces of `pieceBytes`; whole when that is infinite. */
export function inPieces(archive: Uint8Array, pieceBytes: number): Readable {
  return Readable.from(
    (function* () {
      for (let offset = 0; offset < archive.length; offset += pieceBytes) {
        yield archive.subarray(offset, Math.min(archive.length, offset + pieceBytes));
      }
    })(),
    { objectMode: false },
  );
}

async function filesBelow(root: string): Promise<Map<string, FileOnDisk>> {
  const files = new Map<string, FileOnDisk>();
  for (const found of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (found.isDirectory()) continue;
    const full = path.join(found.parentPath, found.name);
    const stat = lstatSync(full);
    const content = readFileSync(full);
    files.set(path.relative(root, full), {
      size: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
      mode: stat.mode.toString(8),
    });
  }
  return files;
}
