import { ADDRESS_BITS, type Address, parseAddress } from './address-text.ts';

/** A prefix of the address space. */
export interface Network {
  readonly family: 4 | 6;
  readonly value: bigint;
  readonly prefix: number;
}

/** Reads `address/prefix`; null when it is not one or when bits after the prefix are set (a typing error that would widen it). */
export function parseNetwork(text: string): Network | null {
  const match = /^([0-9A-Fa-f.:]+)\/(0|[1-9][0-9]{0,2})$/.exec(text);
  const address = match === null ? null : parseAddress(match[1] ?? '');
  const prefix = Number(match?.[2]);
  if (address === null || prefix > ADDRESS_BITS[address.family]) return null;
  const network = { family: address.family, value: address.value, prefix };
  return hostBits(network) === 0n ? network : null;
}

/** True when the address lies in the network; a zone makes an address part of no network. */
export function networkHolds(network: Network, address: Address): boolean {
  if (network.family !== address.family || address.zone !== null) return false;
  const shift = BigInt(ADDRESS_BITS[network.family] - network.prefix);
  return address.value >> shift === network.value >> shift;
}

/** True when every address of `inner` lies in `outer`. */
export function networkCovers(outer: Network, inner: Network): boolean {
  return outer.prefix <= inner.prefix && networkHolds(outer, { ...inner, zone: null });
}

function hostBits(network: Network): bigint {
  return network.value & ((1n << BigInt(ADDRESS_BITS[network.family] - network.prefix)) - 1n);
}
