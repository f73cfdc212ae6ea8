import { compileScope } from '../domain/scope.ts';
import { isWithheld } from '../domain/withhold.ts';
import type { WorkDeps } from './deps.ts';

/** Paths that no agent and no test is given: the built-in list and the configuration's own globs. */
export function isWithheldIn(deps: WorkDeps): (path: string) => boolean {
  const further = compileScope(deps.settings.current().withhold, deps.matches);
  return (path) => isWithheld(path) || further(path);
}
