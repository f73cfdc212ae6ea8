import type { EgressRule } from '../../engine/ports/egress-gateway.ts';
import { whenAborted, withDeadline } from './deadline.ts';

/**
 * Asks for the addresses of one family of an absolute name: no search domains. Answers are texts as received; no such
 * record is an empty list; a failed or aborted query rejects.
 */
export type NameResolver = (name: string, family: 4 | 6, signal: AbortSignal) => Promise<readonly string[]>;

export type Resolution =
  | { readonly ok: true; readonly answers: readonly string[] }
  | { readonly ok: false; readonly rule: Extract<EgressRule, 'resolve-failed' | 'resolve-timeout'> };

/**
 * One lookup of a name: both families at once, within one time limit. When one family fails and the other answers, the
 * answers count: only what was answered (and is then checked) is ever dialled. Waiting for both is what lets the check
 * see them all.
 */
export async function resolveName(
  resolver: NameResolver,
  name: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Resolution> {
  return withDeadline(timeoutMs, signal, async (stop) => {
    const queries = Promise.allSettled([query(resolver, name, 4, stop), query(resolver, name, 6, stop)]);
    const results = await Promise.race([queries, whenAborted(stop)]);
    if (results === undefined) return { ok: false, rule: 'resolve-timeout' };
    const answers = results.flatMap((result) => (result.status === 'fulfilled' ? [...result.value] : []));
    const isFailure = answers.length === 0 && results.some((result) => result.status === 'rejected');
    return isFailure ? { ok: false, rule: 'resolve-failed' } : { ok: true, answers };
  });
}

/** Turns a resolver that throws into one that rejects. */
async function query(
  resolver: NameResolver,
  name: string,
  family: 4 | 6,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return resolver(name, family, signal);
}
