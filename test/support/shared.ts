import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));

/** Directory that holds the case files the team shares (`vectors/`, `data/`), beside the checkout; absent elsewhere. */
export const sharedDir = path.resolve(here, '../../../shared');

/**
 * True when the shared case files lie beside the checkout. Without them the suites that need them skip with a notice;
 * in CI their absence is a failure.
 */
export function sharedAvailable(): boolean {
  if (existsSync(path.join(sharedDir, 'vectors'))) return true;
  if (process.env.CI) throw new Error(`the shared case files are missing at ${sharedDir}; CI must lay them out`);
  process.stderr.write(`NOTICE: shared case files not found beside the checkout; their suites are skipped\n`);
  return false;
}
