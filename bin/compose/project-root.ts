import { existsSync } from 'node:fs';
import path from 'node:path';
import type { EngineError } from '../../src/engine/api.ts';
import { ok, type Result } from '../../src/engine/domain/result.ts';
import type { ProjectFacts, RepositoryFacts } from '../../src/engine/ports/project-facts.ts';

/** The nearest directory upwards with `.roundtable/` inside the work tree, else its top level. */
export async function findRoot(
  facts: ProjectFacts,
  directory: string,
): Promise<Result<{ readonly root: string; readonly facts: RepositoryFacts }, EngineError>> {
  const read = await facts.read(directory);
  if (!read.ok) return read;
  const top = read.value.topLevel;
  for (let at = path.resolve(directory); at.startsWith(top); at = path.dirname(at)) {
    if (existsSync(path.join(at, '.roundtable', 'config.yaml'))) return ok({ root: at, facts: read.value });
    if (at === top) break;
  }
  return ok({ root: top, facts: read.value });
}
