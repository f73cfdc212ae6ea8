import { randomUUID } from 'node:crypto';
import { type EngineError, engineError } from '../../src/engine/domain/errors.ts';
import { err, ok, type Result } from '../../src/engine/domain/result.ts';
import type { AdapterKind } from '../../src/engine/ports/adapter-catalog.ts';
import { fromRuntime } from '../../src/engine/run/resolve-adapter.ts';
import { createContainerRuntime } from '../../src/sandbox/containers/create-container-runtime.ts';
import { connectEngine, type EngineOptions } from '../../src/sandbox/containers/engine-connection.ts';
import { RuntimeFailure } from '../../src/sandbox/containers/runtime-failure.ts';
import { buildLocalImage } from '../../src/sandbox/images/build-local-image.ts';
import { checkImageContract } from '../../src/sandbox/images/check-image-contract.ts';
import { systemClock } from './system-clock.ts';

export interface ImageJob {
  readonly adapter: string;
  readonly kind: AdapterKind;
  readonly command: string | null;
  readonly engine: EngineOptions;
  readonly signal: AbortSignal;
}

/** Builds an agent image from this machine's own pieces and tries it in a sealed container before anybody relies on it. */
export async function buildAdapterImage(
  job: ImageJob,
): Promise<Result<{ readonly imageId: string; readonly sizeBytes: number; readonly ms: number }, EngineError>> {
  if (job.kind !== 'generic') {
    return err(
      engineError(
        'adapter_unsupported',
        `images of kind ${job.kind} can't be built by this version`,
        'use kind: generic, or name an image that you built yourself',
      ),
    );
  }
  const started = systemClock.monotonicMs();
  const connected = await connect(job);
  if (!connected.ok) return connected;
  const engine = connected.value;
  const runtime = createContainerRuntime(job.engine);
  try {
    const built = await buildLocalImage({
      engine,
      pieces: { node: true, npm: true, git: true },
      recipe: job.adapter,
      reuse: true,
      signal: job.signal,
    });
    if (!built.ok) {
      return err(
        built.error.code === 'image_piece_missing'
          ? engineError('image_missing', built.error.message, built.error.remedy)
          : fromRuntime(built.error),
      );
    }
    const { imageId, sizeBytes } = built.value;
    const checked = await checkImageContract({
      runtime,
      image: { reference: imageId, imageId, sizeBytes },
      needs: { node: true, git: true, command: job.command },
      labels: {
        projectId: 'image-check',
        engineInstance: randomUUID(),
        runId: 'image-build',
        ownerId: job.adapter,
        kind: 'probe',
        createdAt: systemClock.now(),
      },
      seccompProfile: null,
      allowUnboundedVolumes: false,
      signal: job.signal,
    });
    if (!checked.ok) return err(fromRuntime(checked.error));
    return ok({ imageId, sizeBytes, ms: Math.round(systemClock.monotonicMs() - started) });
  } finally {
    runtime.close();
    engine.close();
  }
}

async function connect(job: ImageJob): Promise<Result<Awaited<ReturnType<typeof connectEngine>>, EngineError>> {
  try {
    return ok(await connectEngine(job.engine, job.signal));
  } catch (cause) {
    if (cause instanceof RuntimeFailure) return err(fromRuntime(cause.runtimeError));
    throw cause;
  }
}
