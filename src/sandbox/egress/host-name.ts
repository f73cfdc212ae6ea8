export type HostNameFault = 'host-invalid' | 'ip-literal';

/**
 * Checks an ASCII host name: letters, digits and hyphens, labels of 1 to 63, at most 253 in all, no trailing dot.
 * A name that ends in a number is an address to URL parsers and some resolvers, so it is one here. Null when it is fine.
 */
export function hostNameFault(name: string): HostNameFault | null {
  if (endsInNumber(name)) return 'ip-literal';
  if (name.length === 0 || name.length > 253) return 'host-invalid';
  return name.split('.').every(isLabel) ? null : 'host-invalid';
}

/** ASCII lower case only: `toLowerCase` would also fold the Kelvin sign to `k`. */
export function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function isLabel(label: string): boolean {
  return label.length <= 63 && /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/.test(label);
}

function endsInNumber(name: string): boolean {
  const last = (name.endsWith('.') ? name.slice(0, -1) : name).split('.').at(-1) ?? '';
  return /^(?:[0-9]+|0[xX][0-9A-Fa-f]*)$/.test(last);
}
