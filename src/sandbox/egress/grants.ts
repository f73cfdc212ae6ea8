import { setMaxListeners } from 'node:events';
import type { EgressPolicy } from './policy.ts';

/** The policy in force, and what cuts the tunnels of each host. */
export interface Grants {
  policy(): EgressPolicy;
  /** Fires when the host is no longer allowed, and when everything is cut. */
  signalFor(host: string): AbortSignal;
  /** Puts another policy in force and cuts the tunnels of hosts that it doesn't allow any more. */
  replace(policy: EgressPolicy): void;
  cutAll(): void;
}

export function createGrants(initial: EgressPolicy): Grants {
  let current = initial;
  let isCut = false;
  const controllers = new Map<string, AbortController>();

  return {
    policy: () => current,
    signalFor(host) {
      const controller = controllers.get(host) ?? new AbortController();
      controllers.set(host, controller);
      // One listener per tunnel, so the limit of connections bounds them.
      setMaxListeners(0, controller.signal);
      if (isCut) controller.abort();
      return controller.signal;
    },
    replace(policy) {
      current = policy;
      for (const [host, controller] of controllers) {
        if (policy.judgeTarget(`${host}:443`).verdict === 'allowed') continue;
        controllers.delete(host);
        controller.abort();
      }
    },
    cutAll() {
      isCut = true;
      for (const controller of controllers.values()) controller.abort();
    },
  };
}
