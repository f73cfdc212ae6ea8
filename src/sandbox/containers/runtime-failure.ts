import type { RuntimeError, RuntimeErrorCode } from '../../engine/ports/container-runtime.ts';

/**
 * Thrown only inside this folder, where a value would have to be threaded through a dozen engine calls; the public
 * functions catch it and answer `{ok: false, error}`.
 */
export class RuntimeFailure extends Error {
  readonly runtimeError: RuntimeError;

  constructor(runtimeError: RuntimeError, cause?: unknown) {
    super(runtimeError.message, { cause });
    this.name = 'RuntimeFailure';
    this.runtimeError = runtimeError;
  }
}

export function failure(code: RuntimeErrorCode, message: string, remedy: string, cause?: unknown): RuntimeFailure {
  return new RuntimeFailure({ code, message, remedy }, cause);
}

/**
 * The one place where an error of the engine's client becomes ours.
 * `doing` says what was being done to which thing, e.g. `start container 1a2b`.
 */
export function translateEngineError(cause: unknown, doing: string): RuntimeFailure {
  if (cause instanceof RuntimeFailure) return cause;
  const answer = engineAnswer(cause);
  if (isConnectionError(cause)) {
    return failure(
      'engine_unavailable',
      `could not ${doing}: the container engine does not answer (${answer})`,
      'start the container engine, or set runtime.socket to where it listens',
      cause,
    );
  }
  const status = engineStatus(cause);
  if (status === 404 && /no such image/i.test(answer)) {
    return failure(
      'image_missing',
      `could not ${doing}: ${answer}`,
      'build it with `roundtable image build ADAPTER`, or fetch it with the container engine',
      cause,
    );
  }
  if (status === 404 || (status === 409 && /is not running/i.test(answer))) {
    return failure(
      'container_gone',
      `could not ${doing}: ${answer}`,
      'the container was stopped or removed from outside; start the work again',
      cause,
    );
  }
  return failure(
    'engine_failed',
    `could not ${doing}: ${answer}`,
    'run `roundtable doctor` to see what the container engine refuses',
    cause,
  );
}

/** HTTP status of an engine's refusal, or null when there was no answer at all. */
export function engineStatus(cause: unknown): number | null {
  if (typeof cause !== 'object' || cause === null || !('statusCode' in cause)) return null;
  return typeof cause.statusCode === 'number' ? cause.statusCode : null;
}

/** The engine's own words, without the client's decoration. */
export function engineAnswer(cause: unknown): string {
  if (typeof cause === 'object' && cause !== null && 'json' in cause) {
    const { json } = cause;
    if (typeof json === 'object' && json !== null && 'message' in json && typeof json.message === 'string') {
      return json.message;
    }
  }
  return cause instanceof Error ? cause.message.trim() : String(cause);
}

const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ENOENT',
  'EACCES',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ETIMEDOUT',
  'EPIPE',
]);

function isConnectionError(cause: unknown): boolean {
  if (typeof cause !== 'object' || cause === null || !('code' in cause)) return false;
  return typeof cause.code === 'string' && (CONNECTION_CODES.has(cause.code) || cause.code === 'ECONNRESET');
}
