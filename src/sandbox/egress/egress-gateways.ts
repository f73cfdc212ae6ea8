import type { EgressGateways } from '../../engine/ports/egress-gateway.ts';
import type { Dialer } from './dial.ts';
import { createEgressGateway } from './gateway.ts';
import type { NameResolver } from './resolve.ts';

export interface EgressGatewaysDeps {
  readonly resolver: NameResolver;
  readonly dialer: Dialer;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** The port over one resolver and one dialer. */
export function createEgressGateways(deps: EgressGatewaysDeps): EgressGateways {
  return { open: (options) => createEgressGateway({ ...options, ...deps }) };
}
