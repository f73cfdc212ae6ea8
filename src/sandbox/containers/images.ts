import type { PinnedImage } from '../../engine/ports/container-runtime.ts';
import { callEngine } from './engine-call.ts';
import type { EngineConnection } from './engine-connection.ts';
import { failure } from './runtime-failure.ts';

const TIMEOUT_MS = 15_000;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const NAMED_DIGEST = /^[^\s@]+@sha256:[0-9a-f]{64}$/;

/** Looks a pinned reference up on the engine. Never pulls, and never follows a tag, which can move under our feet. */
export async function resolvePinnedImage(
  engine: EngineConnection,
  reference: string,
  signal: AbortSignal,
): Promise<PinnedImage> {
  refuseUnpinned(reference);
  const inspected = await inspectImage(engine, reference, signal);
  return { reference, imageId: inspected.Id, sizeBytes: inspected.Size };
}

/** Throws `image_not_pinned` unless the reference names contents, not a place where contents may change. */
export function refuseUnpinned(reference: string): void {
  if (DIGEST.test(reference) || NAMED_DIGEST.test(reference)) return;
  throw failure(
    'image_not_pinned',
    `the image ${JSON.stringify(reference)} is not pinned by a digest`,
    'use name@sha256:<64 hex digits> or a local image id sha256:<64 hex digits>; `roundtable image build` writes one',
  );
}

/** What an image would bring into a container by itself. */
export interface ImageDemands {
  readonly envNames: readonly string[];
  readonly volumePaths: readonly string[];
}

export async function imageDemands(
  engine: EngineConnection,
  imageId: string,
  signal: AbortSignal,
): Promise<ImageDemands> {
  const { Config: config } = await inspectImage(engine, imageId, signal);
  const env: readonly string[] = config?.Env ?? [];
  return {
    envNames: env.map((line) => line.split('=', 1)[0] ?? ''),
    volumePaths: Object.keys(config?.Volumes ?? {}),
  };
}

async function inspectImage(engine: EngineConnection, reference: string, signal: AbortSignal) {
  const call = { doing: `inspect image ${reference}`, timeoutMs: TIMEOUT_MS, signal };
  return callEngine(call, () => engine.docker.getImage(reference).inspect());
}
