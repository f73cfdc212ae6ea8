import { type DecisionDeps, decide } from '../app/deps.ts';
import { type EngineError, engineError } from '../domain/errors.ts';
import type { RequestId } from '../domain/ids.ts';
import type { Principal } from '../domain/principal.ts';
import type { RequestRecord } from '../domain/records.ts';
import { err, ok, type Result } from '../domain/result.ts';

export interface AskOptions {
  readonly kind: RequestRecord['kind'];
  readonly payload: Readonly<Record<string, unknown>>;
  readonly by: Principal;
  /** True when some process owns the engine now (this one or another). */
  readonly owned: () => boolean;
  /** Tells an owner in this process at once; another one sees the row by itself. */
  readonly wake: () => void;
  readonly signal: AbortSignal;
}

/** How long an owner may take to pick a request up before we say that there is none. */
const PICKUP_MS = 15_000;

/** Records a request for the engine owner and waits for what comes of it. Recorded first: it survives both processes. */
export async function askOwner(
  deps: DecisionDeps,
  options: AskOptions,
): Promise<Result<Readonly<Record<string, unknown>>, EngineError>> {
  if (!options.owned()) return err(noOwner());
  const asked = await decide(deps.store, (scope) => {
    const id = scope.nextId('request') as RequestId;
    scope.requests.insert({
      id,
      kind: options.kind,
      payload: options.payload,
      principal: options.by,
      status: 'pending',
      result: null,
      createdAt: deps.clock.now(),
      endedAt: null,
    });
    scope.append({
      type: 'request.pending',
      principal: options.by,
      entity: 'request',
      entityId: id,
      runId: null,
      data: { kind: options.kind, id: options.payload.id ?? null },
    });
    return id;
  });
  if (!asked.ok) return asked;
  options.wake();
  const ended = await whenEnded(deps, asked.value, options);
  if (ended === null) {
    await withdraw(deps, asked.value);
    return err(
      options.signal.aborted
        ? engineError(
            'cancelled',
            'the wait for the engine was cancelled',
            'look at the state; the request may still be carried out',
          )
        : noOwner(),
    );
  }
  if (ended.status === 'done') return ok(ended.result ?? {});
  const { code, message, remedy, details } = (ended.result ?? {}) as Partial<EngineError>;
  return err({
    code: code ?? 'storage_failed',
    message: message ?? 'the request failed',
    remedy: remedy ?? 'look at the events',
    ...(details ? { details } : {}),
  });
}

function whenEnded(deps: DecisionDeps, id: RequestId, options: AskOptions): Promise<RequestRecord | null> {
  const deadline = deps.clock.monotonicMs() + PICKUP_MS;
  return new Promise((resolve) => {
    const done = (row: RequestRecord | null): void => {
      subscription.close();
      clearInterval(timer);
      options.signal.removeEventListener('abort', onAbort);
      resolve(row);
    };
    const look = (): void => {
      const row = deps.store.read((rows) => rows.requests.get(id));
      if (row && (row.status === 'done' || row.status === 'failed')) done(row);
      else if (row?.status === 'pending' && deps.clock.monotonicMs() > deadline && !options.owned()) done(null);
    };
    const onAbort = (): void => done(null);
    const subscription = deps.store.subscribe(look);
    const timer = setInterval(look, 50);
    options.signal.addEventListener('abort', onAbort);
    look();
  });
}

/** A request that nobody picked up must not be carried out later by surprise. */
async function withdraw(deps: DecisionDeps, id: RequestId): Promise<void> {
  await decide(deps.store, (scope) => {
    const row = scope.requests.get(id);
    if (row?.status === 'pending')
      scope.requests.update({ ...row, status: 'failed', endedAt: deps.clock.now(), result: { ...noOwner() } });
  });
}

function noOwner(): EngineError {
  return engineError(
    'engine_not_running',
    'no process runs the engine of this project',
    'start it with `roundtable` or `roundtable start`, and try again',
  );
}
