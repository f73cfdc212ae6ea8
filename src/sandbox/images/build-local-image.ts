import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import type { Readable } from 'node:stream';
import { err, ok, type Result } from '../../engine/domain/result.ts';
import type { RuntimeError } from '../../engine/ports/container-runtime.ts';
import { callEngine } from '../containers/engine-call.ts';
import type { EngineConnection } from '../containers/engine-connection.ts';
import { failure, RuntimeFailure } from '../containers/runtime-failure.ts';
import { collectPieces } from './collect-pieces.ts';
import { type ImageEntry, type ImagePieces, MissingPiece } from './image-entry.ts';
import { layerStream } from './layer.ts';

// Trusts: the programs of this machine that go into the image; they are copied, and only listed (`ldd`, `--list`) here.
// Needs no registry and no network.

const IMAGE_LABEL = 'dev.roundtable.image';
const CONTENT_LABEL = 'dev.roundtable.content';

export interface BuildLocalImageOptions {
  readonly engine: EngineConnection;
  readonly pieces: ImagePieces;
  /** Names the image (`roundtable-local/<recipe>`) and its label, e.g. `codex` or `demo`. */
  readonly recipe: string;
  /** Reuse an image of the same recipe and the same pieces instead of making one more. */
  readonly reuse: boolean;
  readonly signal?: AbortSignal;
}

export interface BuiltImage {
  /** `sha256:<64 hex>` */
  readonly imageId: string;
  readonly sizeBytes: number;
  readonly ms: number;
  readonly reused: boolean;
}

export type ImageBuildError =
  | RuntimeError
  | {
      readonly code: 'image_piece_missing';
      readonly piece: string;
      readonly debianPackage: string;
      readonly message: string;
      readonly remedy: string;
    };

const IMPORT_TIMEOUT_MS = 300_000;
const CALL_TIMEOUT_MS = 30_000;

/** Makes an agent image of one layer from this machine's own programs. */
export async function buildLocalImage(options: BuildLocalImageOptions): Promise<Result<BuiltImage, ImageBuildError>> {
  const started = performance.now();
  try {
    if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(options.recipe)) {
      throw failure('engine_failed', `${options.recipe} can't name an image`, 'use lower-case letters, digits and -');
    }
    const entries = await collectPieces(options.pieces);
    const content = await contentKey(entries);
    const known = options.reuse ? await findImage(options, content) : null;
    const imageId = known ?? (await importLayer(options, entries, content));
    const inspect = () => options.engine.docker.getImage(imageId).inspect();
    const { Size } = await callEngine(call(options, `inspect image ${imageId}`, CALL_TIMEOUT_MS), inspect);
    const ms = Math.round(performance.now() - started);
    return ok({ imageId, sizeBytes: Size, ms, reused: known !== null });
  } catch (cause) {
    if (cause instanceof RuntimeFailure) return err(cause.runtimeError);
    if (cause instanceof MissingPiece) return err(missing(cause));
    throw cause;
  }
}

async function findImage(options: BuildLocalImageOptions, content: string): Promise<string | null> {
  const label = [`${IMAGE_LABEL}=${options.recipe}`, `${CONTENT_LABEL}=${content}`];
  const list = () => options.engine.docker.listImages({ filters: { label } });
  const found = await callEngine(call(options, 'list images', CALL_TIMEOUT_MS), list);
  return found[0]?.Id ?? null;
}

async function importLayer(
  options: BuildLocalImageOptions,
  entries: readonly ImageEntry[],
  content: string,
): Promise<string> {
  const layer = layerStream(entries);
  const changes = [
    `LABEL ${IMAGE_LABEL}=${options.recipe}`,
    `LABEL ${CONTENT_LABEL}=${content}`,
    'ENV PATH=/usr/local/bin:/usr/bin:/bin',
    'CMD ["/bin/sh"]',
  ];
  // Named, so that `docker image prune` leaves it alone; used by its id all the same.
  const query = { repo: `roundtable-local/${options.recipe}`, tag: content.slice(0, 12), changes };
  const doing = `import the image ${options.recipe}`;
  try {
    return await callEngine(call(options, doing, IMPORT_TIMEOUT_MS), async (abortSignal) => {
      const broken = new Promise<never>((_, reject) => layer.once('error', reject));
      const answer = options.engine.docker.importImage(layer, { ...query, abortSignal });
      return importedId(await Promise.race([answer, broken]), doing);
    });
  } finally {
    layer.destroy();
  }
}

/** The engine answers with JSON lines; the last `status` is the id. */
async function importedId(answer: NodeJS.ReadableStream, doing: string): Promise<string> {
  let text = '';
  for await (const chunk of answer as Readable) text += String(chunk);
  const id = /"status":"(sha256:[0-9a-f]{64})"/.exec(text)?.[1];
  if (!id) throw failure('engine_failed', `could not ${doing}: ${text.trim().slice(0, 500)}`, 'check its disk space');
  return id;
}

/** Digest of what the layer is made of, by path, size and time of the files rather than by 150 MB of their bytes. */
async function contentKey(entries: readonly ImageEntry[]): Promise<string> {
  const hash = createHash('sha256').update('layer-format 1\n');
  for (const entry of entries) {
    hash.update(`${JSON.stringify(entry)}\n`);
    if (entry.kind !== 'copy') continue;
    const { size, mtimeMs } = await stat(entry.hostPath);
    hash.update(`${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex').slice(0, 32);
}

function call(options: BuildLocalImageOptions, doing: string, timeoutMs: number) {
  return { doing, timeoutMs, ...(options.signal ? { signal: options.signal } : {}) };
}

function missing(cause: MissingPiece): ImageBuildError {
  return {
    code: 'image_piece_missing',
    piece: cause.piece,
    debianPackage: cause.debianPackage,
    message: `can't build the image from this machine: ${cause.message}`,
    remedy: `install it (Debian package: ${cause.debianPackage}), or build with --base REF`,
  };
}
