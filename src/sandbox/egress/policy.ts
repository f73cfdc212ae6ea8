import { err, ok, type Result } from '../../engine/domain/result.ts';
import type { EgressAllowance, EgressGatewayError, EgressRule } from '../../engine/ports/egress-gateway.ts';
import type { Address } from './address-text.ts';
import { compileAddressTable } from './addresses.ts';
import { parseAuthority } from './authority.ts';
import { asciiLowerCase, hostNameFault } from './host-name.ts';
import { type Network, networkHolds, parseNetwork } from './networks.ts';
import { EGRESS_RULES } from './rules.ts';

interface Refused {
  readonly verdict: 'refused';
  readonly rule: EgressRule;
  readonly remedy: string;
}

export type TargetVerdict =
  | { readonly verdict: 'allowed'; readonly rule: 'configured-host'; readonly host: string; readonly port: 443 }
  | (Refused & { readonly host: string | null; readonly port: number | null });

/** An address that passed, as text to dial and as number to compare. */
export interface CheckedAddress extends Address {
  readonly text: string;
}

export type AnswersVerdict =
  | { readonly verdict: 'allowed'; readonly rule: 'configured-host'; readonly addresses: readonly CheckedAddress[] }
  /** `address` and `class` name the answer that decided. */
  | (Refused & { readonly address: string | null; readonly class: string | null });

/** The compiled rules: the gateway enforces with it and `egress check` explains with it. Pure. */
export interface EgressPolicy {
  /** Judges a request target before anything is looked up. */
  judgeTarget(authority: string): TargetVerdict;
  /** Judges all answers of one lookup of an allowed host: one bad answer refuses them all. */
  judgeAnswers(host: string, answers: readonly string[], maxAnswers: number): AnswersVerdict;
}

/** Compiles what is allowed. Hosts are exact names; a pattern, an address or a port is an error, as is a too wide exception. */
export function compileEgressPolicy(allow: EgressAllowance): Result<EgressPolicy, EgressGatewayError> {
  const table = compileAddressTable();
  const hosts = new Set<string>();
  for (const host of allow.hosts) {
    const fault = hostFault(host);
    if (fault !== null)
      return err({ code: 'egress_host_invalid', host, rule: fault, remedy: EGRESS_RULES[fault].remedy });
    hosts.add(asciiLowerCase(host));
  }
  const exceptions = new Map<string, Network[]>();
  for (const [name, networks] of Object.entries(allow.exceptions ?? {})) {
    const host = asciiLowerCase(name);
    for (const text of networks) {
      const network = parseNetwork(text);
      const reason = !hosts.has(host)
        ? 'host-not-listed'
        : network === null
          ? 'not-a-network'
          : table.isExceptable(network)
            ? null
            : 'never-allowed';
      if (reason !== null || network === null) {
        const why = reason ?? 'not-a-network';
        return err({
          code: 'egress_exception_invalid',
          host: name,
          network: text,
          reason: why,
          remedy: EXCEPTION_REMEDY[why],
        });
      }
      exceptions.set(host, [...(exceptions.get(host) ?? []), network]);
    }
  }

  return ok({
    judgeTarget(text) {
      const authority = parseAuthority(text);
      if (!authority.ok) return { ...refused(authority.rule), host: authority.host, port: authority.port };
      const { host, port } = authority;
      if (!hosts.has(host)) return { ...refused('host-not-allowed'), host, port };
      return { verdict: 'allowed', rule: 'configured-host', host, port };
    },
    judgeAnswers(host, answers, maxAnswers) {
      if (answers.length === 0) return { ...refused('no-address'), address: null, class: null };
      if (answers.length > maxAnswers) return { ...refused('too-many-addresses'), address: null, class: null };
      const opened = exceptions.get(host) ?? [];
      const addresses = new Map<string, CheckedAddress>();
      for (const text of answers) {
        const { address, reachable, class: name } = table.classify(text);
        if (address === null || !(reachable || opened.some((network) => networkHolds(network, address)))) {
          return { ...refused('address-refused'), address: address === null ? null : text, class: name };
        }
        addresses.set(`${address.family}:${address.value}`, { ...address, text });
      }
      return { verdict: 'allowed', rule: 'configured-host', addresses: [...addresses.values()] };
    },
  });
}

const EXCEPTION_REMEDY = {
  'host-not-listed': 'Name a host that is one of the configured hosts.',
  'not-a-network': 'Write the network as address/prefix with no bits set after the prefix, e.g. 198.18.0.0/15.',
  'never-allowed':
    'Name a network that lies within one private, shared, benchmark, reserved, loopback or unique-local block; others are never opened.',
} as const;

function refused(rule: EgressRule): Refused {
  return { verdict: 'refused', rule, remedy: EGRESS_RULES[rule].remedy };
}

function hostFault(host: string): EgressRule | null {
  return /[^\0-\x7f]/.test(host) ? 'host-not-ascii' : hostNameFault(host);
}
