import { failure, type RuntimeFailure, translateEngineError } from './runtime-failure.ts';

export interface EngineCall {
  /** What is being done to which thing, e.g. `create volume rt-1a2b-temp`. */
  readonly doing: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Runs one engine call with a deadline and the caller's signal. The call gets a signal of its own that fires for both;
 * a call that ignores it is left behind, never waited for. Throws `RuntimeFailure`.
 */
export async function callEngine<T>(call: EngineCall, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  if (call.signal?.aborted) throw cancelled(call.doing);
  const controller = new AbortController();
  let stop: (reason: RuntimeFailure) => void = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = (reason) => {
      reject(reason);
      controller.abort(reason);
    };
  });
  const timer = setTimeout(() => stop(late(call)), call.timeoutMs);
  const onAbort = () => stop(cancelled(call.doing));
  call.signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([run(controller.signal), stopped]);
  } catch (cause) {
    throw translateEngineError(cause, call.doing);
  } finally {
    clearTimeout(timer);
    call.signal?.removeEventListener('abort', onAbort);
  }
}

export function cancelled(doing: string): RuntimeFailure {
  return failure('cancelled', `cancelled while trying to ${doing}`, 'nothing to do: it was stopped on purpose');
}

function late(call: EngineCall): RuntimeFailure {
  return failure(
    'engine_failed',
    `could not ${call.doing}: no answer from the container engine within ${call.timeoutMs} ms`,
    'check the load of the machine and the engine, then try again',
  );
}
