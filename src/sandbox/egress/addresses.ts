import { type Address, parseAddress } from './address-text.ts';
import { type Network, networkCovers, networkHolds, parseNetwork } from './networks.ts';
import { SPECIAL_PURPOSE_ROWS } from './special-purpose.ts';

/** `class` names the registry row that decided: `global` when there is none, `invalid` for text that is no address. */
interface AddressVerdict {
  readonly reachable: boolean;
  readonly class: string;
  readonly address: Address | null;
}

export interface AddressTable {
  /** Judges one address as a resolver returned it: the most specific row decides. */
  classify(text: string): AddressVerdict;
  /** True when an operator may open this network for a host: it lies within one row that allows it. */
  isExceptable(network: Network): boolean;
}

/** Compiles the special-purpose registries, most specific row first. */
export function compileAddressTable(): AddressTable {
  const rows = SPECIAL_PURPOSE_ROWS.map((row) => ({ ...row, network: mustParse(row.network) })).sort(
    (a, b) => b.network.prefix - a.network.prefix,
  );
  return {
    classify(text) {
      const address = parseAddress(text);
      if (address === null) return { reachable: false, class: 'invalid', address };
      const row = rows.find((candidate) => networkHolds(candidate.network, { ...address, zone: null }));
      // A zone says "on this link", whatever the prefix claims.
      return { reachable: (row?.reachable ?? true) && address.zone === null, class: row?.class ?? 'global', address };
    },
    isExceptable(network) {
      return rows.find((row) => networkCovers(row.network, network))?.exceptable === true;
    },
  };
}

function mustParse(text: string): Network {
  const network = parseNetwork(text);
  if (network === null) throw new Error(`special-purpose table holds ${text}, which is no network`);
  return network;
}
