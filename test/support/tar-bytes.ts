/** Parts of a header that a test may set; everything else is what a plain ustar writer would put there. */
export interface TarParts {
  readonly name: string | Uint8Array;
  readonly type?: string;
  readonly content?: string | Uint8Array;
  readonly linkName?: string;
  readonly mode?: number;
  /** Size to announce where it is not the content's. */
  readonly announcedSize?: number;
}

export const TAR_END: Uint8Array = new Uint8Array(1024);

/** One ustar entry with its data and padding, byte for byte as the recipes of the case files describe it. */
export function tarEntry({ name, type = '0', content = '', linkName = '', mode, announcedSize }: TarParts): Uint8Array {
  const data = bytes(content);
  const header = Buffer.alloc(512);
  header.set(bytes(name).subarray(0, 100), 0);
  octalField(header, 100, 8, mode ?? (type === '5' ? 0o755 : 0o644));
  octalField(header, 108, 8, 0);
  octalField(header, 116, 8, 0);
  octalField(header, 124, 12, announcedSize ?? data.length);
  octalField(header, 136, 12, 0);
  header.write(type, 156, 'latin1');
  header.write(linkName, 157, 'utf8');
  header.write('ustar\u000000', 257, 'latin1');
  octalField(header, 329, 8, 0);
  octalField(header, 337, 8, 0);
  sealHeader(header);
  return Buffer.concat([header, data, Buffer.alloc((512 - (data.length % 512)) % 512)]);
}

/** Writes the checksum of a header that was changed by hand. */
export function sealHeader(header: Uint8Array): void {
  header.fill(0x20, 148, 156);
  const sum = header.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  header.set(Buffer.from(`${sum.toString(8).padStart(6, '0')}\u0000 `, 'latin1'), 148);
}

/** A PAX header (`x`, or `g` for all that follows) with the given records. */
export function paxEntry(records: Readonly<Record<string, string>>, type = 'x'): Uint8Array {
  const text = Object.entries(records).map(([key, value]) => paxRecord(key, value));
  return tarEntry({ name: 'PaxHeaders/x', type, content: text.join('') });
}

export function tarArchive(...entries: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([...entries, TAR_END]);
}

function paxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + 1;
  while (String(length).length + rest !== length) length = String(length).length + rest;
  return `${length} ${key}=${value}\n`;
}

function octalField(header: Buffer, offset: number, length: number, value: number): void {
  header.write(`${value.toString(8).padStart(length - 1, '0')}\u0000`, offset, 'latin1');
}

function bytes(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? Buffer.from(text) : text;
}
