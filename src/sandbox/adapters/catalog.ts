import type { Adapter, AdapterCatalog } from '../../engine/ports/adapter-catalog.ts';
import { genericAdapter } from './generic.ts';

/** The adapters of this version, alphabetical. Nothing falls back: a kind that isn't here is not found. */
export function createAdapterCatalog(): AdapterCatalog {
  const adapters: readonly Adapter[] = [genericAdapter];
  return {
    find: (kind) => adapters.find((adapter) => adapter.kind === kind) ?? null,
    kinds: () => adapters.map((adapter) => adapter.kind),
  };
}
