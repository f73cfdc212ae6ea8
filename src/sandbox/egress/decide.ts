import type { EgressLimits } from '../../engine/ports/egress-gateway.ts';
import type { AnswersVerdict, EgressPolicy, TargetVerdict } from './policy.ts';
import { type NameResolver, resolveName } from './resolve.ts';
import { EGRESS_RULES } from './rules.ts';

export interface DestinationVerdict {
  readonly target: TargetVerdict;
  /** Null when the target was refused: then nothing was looked up. */
  readonly answers: AnswersVerdict | null;
}

/**
 * From a request target to the addresses that may be dialled, with one lookup at most. The gateway and
 * `egress check` both ask here, so that the explanation can't differ from what is enforced.
 */
export async function decideDestination(
  authority: string,
  policy: EgressPolicy,
  resolver: NameResolver,
  limits: Pick<EgressLimits, 'resolveTimeoutMs' | 'answers'>,
  signal: AbortSignal,
): Promise<DestinationVerdict> {
  const target = policy.judgeTarget(authority);
  if (target.verdict === 'refused') return { target, answers: null };
  const resolution = await resolveName(resolver, target.host, limits.resolveTimeoutMs, signal);
  if (!resolution.ok) {
    const { rule } = resolution;
    const answers = {
      verdict: 'refused',
      rule,
      remedy: EGRESS_RULES[rule].remedy,
      address: null,
      class: null,
    } as const;
    return { target, answers };
  }
  return { target, answers: policy.judgeAnswers(target.host, resolution.answers, limits.answers) };
}
