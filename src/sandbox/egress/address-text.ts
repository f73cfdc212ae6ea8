/** An address as a number. The zone of a scoped IPv6 address is kept, because it makes the address local. */
export interface Address {
  readonly family: 4 | 6;
  readonly value: bigint;
  readonly zone: string | null;
}

/** Bits of an address of each family. */
export const ADDRESS_BITS = { 4: 32, 6: 128 } as const;

/**
 * Strict reading of one textual address (RFC 4291 2.2, dotted quads without leading zeroes). Anything that some resolver
 * would guess at (short forms, octal, hexadecimal, blanks, ports, prefixes) is null.
 */
export function parseAddress(text: string): Address | null {
  if (!text.includes(':')) {
    const value = parseQuad(text);
    return value === null ? null : { family: 4, value, zone: null };
  }
  const percent = text.indexOf('%');
  const zone = percent === -1 ? null : text.slice(percent + 1);
  if (zone !== null && !/^[A-Za-z0-9._-]{1,64}$/.test(zone)) return null;
  const value = parseGroups(percent === -1 ? text : text.slice(0, percent));
  return value === null ? null : { family: 6, value, zone };
}

function parseQuad(text: string): bigint | null {
  const parts = text.split('.');
  if (parts.length !== 4) return null;
  let value = 0n;
  for (const part of parts) {
    if (!/^(?:0|[1-9][0-9]{0,2})$/.test(part)) return null;
    const octet = Number(part);
    if (octet > 255) return null;
    value = (value << 8n) | BigInt(octet);
  }
  return value;
}

function parseGroups(text: string): bigint | null {
  if (text.length > 45) return null;
  const halves = text.split('::');
  const [head = '', tail] = halves;
  if (halves.length > 2) return null;
  const left = groupsOf(head, tail === undefined);
  const right = tail === undefined ? [] : groupsOf(tail, true);
  if (left === null || right === null) return null;
  const missing = 8 - left.length - right.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return null;
  return [...left, ...new Array<number>(missing).fill(0), ...right].reduce((sum, g) => (sum << 16n) | BigInt(g), 0n);
}

/** Groups between two `::`; a dotted quad may stand for the last two groups of the whole address. */
function groupsOf(text: string, isLast: boolean): number[] | null {
  if (text === '') return [];
  const parts = text.split(':');
  const groups: number[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.includes('.')) {
      const quad = isLast && index === parts.length - 1 ? parseQuad(part) : null;
      if (quad === null) return null;
      groups.push(Number(quad >> 16n), Number(quad & 0xffffn));
    } else {
      if (!/^[0-9A-Fa-f]{1,4}$/.test(part)) return null;
      groups.push(Number.parseInt(part, 16));
    }
  }
  return groups.length > 8 ? null : groups;
}
