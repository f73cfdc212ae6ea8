/**
 * Runs a step that has to be through in time, counted from its start. The signal given to it fires when time is up, when
 * the parent fires, and when the step is over (so that nothing that was started for it goes on). Listens to the parent
 * only as long as it runs: a composite of signals would pile up on a parent that lives as long as the gateway.
 */
export async function withDeadline<T>(
  ms: number | null,
  parent: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = ms === null ? undefined : setTimeout(abort, ms);
  parent.addEventListener('abort', abort, { once: true });
  if (parent.aborted) abort();
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    parent.removeEventListener('abort', abort);
    abort();
  }
}

/** Resolves when the signal fires. For signals that are sure to fire, such as those of `withDeadline`. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
