import { type EngineError, engineError } from '../domain/errors.ts';
import type { GlobMatcher } from '../domain/glob.ts';
import { err, ok, type Result } from '../domain/result.ts';
import type { Clock } from '../ports/clock.ts';
import type { PrivateRepository, RepositoryFailure } from '../ports/private-repository.ts';
import type { ProjectGit } from '../ports/project-git.ts';
import type { SettingsSource } from '../ports/settings.ts';
import type { Store, WriteScope } from '../ports/store.ts';

/** What the use cases that only decide and record need. */
export interface DecisionDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: SettingsSource;
  readonly matches: GlobMatcher;
  /** Why a glob is not acceptable (it would match nothing, or take for ever), or null. */
  readonly globProblem: (pattern: string) => string | null;
  readonly git: ProjectGit;
  readonly revisions: PrivateRepository;
}

/** Thrown inside a write to roll it back with an expected failure; `decide` turns it into a value again. */
class Refusal extends Error {
  constructor(readonly error: EngineError) {
    super(error.message);
  }
}

/** The refusal that a write was rolled back with, or null when something else was thrown. */
export function refusalOf(thrown: unknown): EngineError | null {
  return thrown instanceof Refusal ? thrown.error : null;
}

export function refuse(error: EngineError): never {
  throw new Refusal(error);
}

/** One durable decision: everything in `fn` commits together, or nothing does and the refusal comes back as a value. */
export async function decide<T>(store: Store, fn: (scope: WriteScope) => T): Promise<Result<T, EngineError>> {
  return write(store, 'full', fn);
}

/** One batch of telemetry (heartbeats, times): survives our crash, not the machine's. */
export async function record<T>(store: Store, fn: (scope: WriteScope) => T): Promise<Result<T, EngineError>> {
  return write(store, 'normal', fn);
}

async function write<T>(
  store: Store,
  durability: 'full' | 'normal',
  fn: (scope: WriteScope) => T,
): Promise<Result<T, EngineError>> {
  try {
    const written = await store.write(durability, fn);
    if (written.ok) return ok(written.value);
    const code =
      written.error.code === 'store_busy' || written.error.code === 'store_newer'
        ? written.error.code
        : 'storage_failed';
    return err(engineError(code, written.error.message, written.error.remedy));
  } catch (thrown) {
    if (thrown instanceof Refusal) return err(thrown.error);
    throw thrown;
  }
}

/** Takes the value out of a step inside a write, or rolls the write back with its refusal. */
export function orRefuse<T>(result: Result<T, EngineError>): T {
  return result.ok ? result.value : refuse(result.error);
}

export function fromRepository(failure: RepositoryFailure): EngineError {
  const code = failure.code === 'base_missing' ? 'git_failed' : failure.code;
  return engineError(code, failure.message, failure.remedy);
}

export function notFound(what: string, id: string): EngineError {
  return engineError('not_found', `there is no ${what} ${id}`, `list them with \`roundtable ${what}s list\``);
}
