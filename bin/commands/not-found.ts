import { type EngineError, engineError } from '../../src/engine/api.ts';

export function notFound(what: string, id: string | undefined, listCommand: string): EngineError {
  return engineError('not_found', `there is no ${what} ${id ?? ''}`.trimEnd(), `see \`roundtable ${listCommand}\``);
}
