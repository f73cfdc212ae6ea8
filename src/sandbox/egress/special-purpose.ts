/**
 * The IANA special-purpose address registries for IPv4 and IPv6 as of 2026-07, with what lies outside the IPv6 global
 * unicast block 2000::/3. `reachable` is the registry's column "Globally Reachable", False where it says N/A or nothing;
 * forms that embed an IPv4 address are False whatever the registry says, because what they reach is decided elsewhere.
 * `exceptable`: an operator may open such a network for one host, since DNS with fake answers uses it. Metadata
 * services, routers' own and embedded forms are not.
 */
export interface SpecialPurposeRow {
  readonly network: string;
  readonly class: string;
  readonly reachable: boolean;
  readonly exceptable?: true;
}

export const SPECIAL_PURPOSE_ROWS: readonly SpecialPurposeRow[] = [
  { network: '0.0.0.0/8', class: 'this-network', reachable: false },
  { network: '0.0.0.0/32', class: 'unspecified', reachable: false },
  { network: '10.0.0.0/8', class: 'private', reachable: false, exceptable: true },
  { network: '100.64.0.0/10', class: 'shared', reachable: false, exceptable: true },
  { network: '127.0.0.0/8', class: 'loopback', reachable: false, exceptable: true },
  { network: '169.254.0.0/16', class: 'link-local', reachable: false },
  { network: '172.16.0.0/12', class: 'private', reachable: false, exceptable: true },
  { network: '192.0.0.0/24', class: 'ietf-protocol', reachable: false },
  { network: '192.0.0.9/32', class: 'protocol-anycast', reachable: true },
  { network: '192.0.0.10/32', class: 'protocol-anycast', reachable: true },
  { network: '192.0.2.0/24', class: 'documentation', reachable: false },
  { network: '192.31.196.0/24', class: 'as112', reachable: true },
  { network: '192.52.193.0/24', class: 'amt', reachable: true },
  { network: '192.88.99.0/24', class: '6to4-relay', reachable: false },
  { network: '192.168.0.0/16', class: 'private', reachable: false, exceptable: true },
  { network: '192.175.48.0/24', class: 'as112', reachable: true },
  { network: '198.18.0.0/15', class: 'benchmark', reachable: false, exceptable: true },
  { network: '198.51.100.0/24', class: 'documentation', reachable: false },
  { network: '203.0.113.0/24', class: 'documentation', reachable: false },
  { network: '224.0.0.0/4', class: 'multicast', reachable: false },
  { network: '240.0.0.0/4', class: 'reserved', reachable: false, exceptable: true },
  { network: '255.255.255.255/32', class: 'broadcast', reachable: false },

  { network: '::/0', class: 'reserved', reachable: false },
  { network: '::/96', class: 'ipv4-compatible', reachable: false },
  { network: '::/128', class: 'unspecified', reachable: false },
  { network: '::1/128', class: 'loopback', reachable: false, exceptable: true },
  { network: '::ffff:0:0/96', class: 'ipv4-mapped', reachable: false },
  { network: '::ffff:0:0:0/96', class: 'ipv4-translated', reachable: false },
  { network: '64:ff9b::/96', class: 'nat64', reachable: false },
  { network: '64:ff9b:1::/48', class: 'nat64-local', reachable: false },
  { network: '100::/64', class: 'discard', reachable: false },
  { network: '100:0:0:1::/64', class: 'dummy', reachable: false },
  { network: '2000::/3', class: 'global', reachable: true },
  { network: '2001::/23', class: 'ietf-protocol', reachable: false },
  { network: '2001::/32', class: 'teredo', reachable: false },
  { network: '2001:1::1/128', class: 'protocol-anycast', reachable: true },
  { network: '2001:1::2/128', class: 'protocol-anycast', reachable: true },
  { network: '2001:1::3/128', class: 'protocol-anycast', reachable: true },
  { network: '2001:2::/48', class: 'benchmark', reachable: false },
  { network: '2001:3::/32', class: 'amt', reachable: true },
  { network: '2001:4:112::/48', class: 'as112', reachable: true },
  { network: '2001:10::/28', class: 'orchid', reachable: false },
  { network: '2001:20::/28', class: 'orchidv2', reachable: true },
  { network: '2001:30::/28', class: 'drip-det', reachable: true },
  { network: '2001:db8::/32', class: 'documentation', reachable: false },
  { network: '2002::/16', class: '6to4', reachable: false },
  { network: '2620:4f:8000::/48', class: 'as112', reachable: true },
  { network: '3fff::/20', class: 'documentation', reachable: false },
  { network: '5f00::/16', class: 'srv6', reachable: false },
  { network: 'fc00::/7', class: 'unique-local', reachable: false, exceptable: true },
  { network: 'fe80::/10', class: 'link-local', reachable: false },
  { network: 'fec0::/10', class: 'site-local', reachable: false },
  { network: 'ff00::/8', class: 'multicast', reachable: false },
];
