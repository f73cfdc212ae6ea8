import type { EgressGateways } from '../../engine/ports/egress-gateway.ts';
import type { Dialer } from './dial.ts';
import { createEgressGateway } from './gateway.ts';
import { compileEgressPolicy } from './policy.ts';
import type { NameResolver } from './resolve.ts';

export interface EgressGatewaysDeps {
  readonly resolver: NameResolver;
  readonly dialer: Dialer;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** The port: compiles what is allowed and opens a gateway for it. */
export function createEgressGateways(deps: EgressGatewaysDeps): EgressGateways {
  return {
    async open({ allow, ...options }) {
      const policy = compileEgressPolicy(allow);
      return policy.ok ? createEgressGateway({ ...options, ...deps, policy: policy.value }) : policy;
    },
  };
}
