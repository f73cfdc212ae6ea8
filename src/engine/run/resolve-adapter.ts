import { type EngineError, engineError } from '../domain/errors.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { Adapter } from '../ports/adapter-catalog.ts';
import type { PinnedImage, RuntimeError } from '../ports/container-runtime.ts';
import type { AdapterSettings } from '../ports/settings.ts';
import type { WorkDeps } from './deps.ts';

export interface ReadyAdapter {
  readonly settings: AdapterSettings;
  readonly adapter: Adapter;
  readonly image: PinnedImage;
  readonly credentials: Readonly<Record<string, string>>;
}

/** Everything that can refuse a session before a container exists. */
export async function resolveAdapter(
  deps: WorkDeps,
  name: string,
  signal: AbortSignal,
): Promise<Result<ReadyAdapter, EngineError>> {
  const settings = deps.settings.current().adapters.get(name);
  if (!settings)
    return err(
      engineError(
        'config_invalid',
        `the configuration has no adapter ${name}`,
        'add it under adapters: in .roundtable/config.yaml',
      ),
    );
  const adapter = deps.adapters.find(settings.kind);
  if (!adapter) {
    return err(
      engineError(
        'adapter_unsupported',
        `adapter ${name} is of kind ${settings.kind}, which this version can't run`,
        `use kind: generic, or one of ${deps.adapters.kinds().join(', ')}`,
      ),
    );
  }
  const credentials: Record<string, string> = {};
  for (const variable of settings.credentialEnv) {
    const value = deps.credential(variable);
    if (value === undefined || value === '') {
      return err(
        engineError(
          'credential_missing',
          `adapter ${name} needs ${variable}, which has no value`,
          `set ${variable} in the environment, or take it out of credential_env`,
        ),
      );
    }
    credentials[variable] = value;
  }
  const image = await resolveImage(deps, settings.image, name, signal);
  return image.ok ? ok({ settings, adapter, image: image.value, credentials }) : image;
}

export async function resolveImage(
  deps: WorkDeps,
  reference: string | null,
  adapterName: string,
  signal: AbortSignal,
): Promise<Result<PinnedImage, EngineError>> {
  if (reference === null) {
    return err(
      engineError(
        'image_not_configured',
        `adapter ${adapterName} has no image`,
        `run \`roundtable image build ${adapterName}\``,
      ),
    );
  }
  const image = await deps.runtime.resolveImage(reference, signal);
  return image.ok ? image : err(fromRuntime(image.error));
}

export function fromRuntime(error: RuntimeError): EngineError {
  switch (error.code) {
    case 'engine_unavailable':
    case 'oci_runtime_missing':
      return engineError('container_engine_unavailable', error.message, error.remedy);
    case 'image_not_pinned':
    case 'image_missing':
    case 'image_contract':
    case 'cancelled':
      return engineError(error.code, error.message, error.remedy);
    case 'unbounded_volume':
    case 'engine_failed':
    case 'container_gone':
      return engineError('container_failed', error.message, error.remedy);
    default: {
      const never: never = error.code;
      throw new Error(`unknown runtime error ${String(never)}`);
    }
  }
}
