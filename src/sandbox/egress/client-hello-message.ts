/** What the gateway needs of a ClientHello. */
export interface HelloMessage {
  /** One entry per server_name extension: its name (latin1), or null when the extension isn't exactly one host name. */
  readonly serverNames: readonly (string | null)[];
  readonly hasRepeatedExtension: boolean;
  /** An extension that carries the real name out of sight, GREASE forms included. */
  readonly hidesName: boolean;
}

const SERVER_NAME = 0;
/** encrypted_client_hello, its drafts' code points, outer_extensions, and the older encrypted_server_name. */
const HIDING_EXTENSIONS: ReadonlySet<number> = new Set([0xfe0d, 0xfe0a, 0xffce, 0xfd00]);

/**
 * Parses the body of a ClientHello (after type and length) down to vector bounds. Null when a length doesn't fit.
 * Cipher choice, key shares, versions and the content of other extensions are the server's business.
 */
export function parseHelloMessage(body: Buffer): HelloMessage | null {
  const cursor = createCursor(body);
  const fixed = cursor.take(2 + 32);
  const sessionId = cursor.vector(1);
  const ciphers = cursor.vector(2);
  const compression = cursor.vector(1);
  if (fixed === null || sessionId === null || ciphers === null || compression === null) return null;
  // Minor versions are the server's business, another major has another structure.
  if (fixed[0] !== 3) return null;
  if (sessionId.length > 32 || ciphers.length < 2 || ciphers.length % 2 !== 0 || compression.length < 1) return null;
  if (cursor.left() === 0) return { serverNames: [], hasRepeatedExtension: false, hidesName: false };

  const block = cursor.vector(2);
  if (block === null || cursor.left() !== 0) return null;
  const extensions = createCursor(block);
  const seen = new Set<number>();
  const serverNames: (string | null)[] = [];
  let count = 0;
  while (extensions.left() > 0) {
    const type = extensions.take(2)?.readUInt16BE(0);
    const data = extensions.vector(2);
    if (type === undefined || data === null) return null;
    count += 1;
    seen.add(type);
    if (type === SERVER_NAME) serverNames.push(singleHostName(data));
  }
  return {
    serverNames,
    hasRepeatedExtension: seen.size !== count,
    hidesName: [...HIDING_EXTENSIONS].some((type) => seen.has(type)),
  };
}

/** The name of a server_name list of exactly one entry of type host_name that fills the extension. */
function singleHostName(data: Buffer): string | null {
  const cursor = createCursor(data);
  const list = cursor.vector(2);
  if (list === null || cursor.left() !== 0) return null;
  const entries = createCursor(list);
  const type = entries.take(1)?.readUInt8(0);
  const name = entries.vector(2);
  return type === 0 && name !== null && entries.left() === 0 ? name.toString('latin1') : null;
}

interface Cursor {
  /** The next octets, or null when there are not so many. */
  take(length: number): Buffer | null;
  /** A vector whose length stands in front in `lengthOctets` octets. */
  vector(lengthOctets: 1 | 2): Buffer | null;
  left(): number;
}

function createCursor(buffer: Buffer): Cursor {
  let at = 0;
  function take(length: number): Buffer | null {
    if (buffer.length - at < length) return null;
    at += length;
    return buffer.subarray(at - length, at);
  }
  return {
    take,
    vector(lengthOctets) {
      const length = take(lengthOctets)?.readUIntBE(0, lengthOctets);
      return length === undefined ? null : take(length);
    },
    left: () => buffer.length - at,
  };
}
