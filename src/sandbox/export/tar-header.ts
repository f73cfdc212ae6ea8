import { err, ok, type Result } from '../../engine/domain/result.ts';

export const BLOCK_BYTES = 512;

export type EntryType =
  | 'file'
  | 'directory'
  | 'hardlink'
  | 'symlink'
  | 'device'
  | 'fifo'
  | 'sparse'
  | 'pax'
  | 'pax-global'
  | 'gnu-name'
  | 'gnu-linkname'
  | 'unknown';

export interface TarHeader {
  readonly type: EntryType;
  /** Prefix and name joined, as bytes: metadata may still replace it. */
  readonly name: Uint8Array;
  readonly linkName: Uint8Array;
  readonly size: number;
  readonly ownerMayExecute: boolean;
}

export type HeaderFault = 'header_checksum' | 'header_magic' | 'header_field_invalid' | 'size_invalid';

/**
 * Reads one 512-byte header, strictly: POSIX ustar or GNU magic, an unsigned checksum, octal sizes, nothing hidden behind
 * the NUL of a name. Where readers in use would differ about a header, there is no header.
 */
export function parseTarHeader(block: Uint8Array): Result<TarHeader, HeaderFault> {
  if (octal(block, FIELD.checksum) !== checksumOf(block)) return err('header_checksum');
  const format = formatOf(block);
  if (format === null) return err('header_magic');

  const type = TYPES.get(block[TYPE_OFFSET] ?? 0) ?? 'unknown';
  // Their fields lie elsewhere and mean something else; the type alone refuses them.
  if (type === 'sparse' || type === 'unknown') return ok(nameOnly(type, block));

  const size = octal(block, FIELD.size);
  if (size === null) return err('size_invalid');
  const mode = octal(block, FIELD.mode);
  const name = textField(block, FIELD.name);
  const linkName = textField(block, FIELD.linkName);
  const prefix = textField(block, FIELD.prefix);
  if (mode === null || name === null || linkName === null || prefix === null) return err('header_field_invalid');
  if (!OTHER_NUMBERS.every((field) => isNumber(block, field))) return err('header_field_invalid');

  if (linkName.length > 0 && !MAY_HAVE_LINK_NAME.has(type)) return err('header_field_invalid');
  // GNU keeps times of incremental dumps in this area; some readers take them for a directory all the same.
  if (format === 'gnu' && prefix.length > 0) return err('header_field_invalid');

  return ok({ type, name: joined(prefix, name), linkName, size, ownerMayExecute: (mode & 0o100) !== 0 });
}

export function isZeroBlock(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0);
}

type Field = readonly [offset: number, length: number];

const FIELD = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  linkName: [157, 100],
  magic: [257, 8],
  deviceMajor: [329, 8],
  deviceMinor: [337, 8],
  prefix: [345, 155],
} as const satisfies Record<string, Field>;

const TYPE_OFFSET = 156;
/** Numbers that nothing depends on; they only have to be numbers. */
const OTHER_NUMBERS: readonly Field[] = [FIELD.uid, FIELD.gid, FIELD.mtime, FIELD.deviceMajor, FIELD.deviceMinor];

const TYPES: ReadonlyMap<number, EntryType> = new Map<number, EntryType>([
  [0x00, 'file'],
  [0x30, 'file'], // 0
  [0x31, 'hardlink'], // 1
  [0x32, 'symlink'], // 2
  [0x33, 'device'], // 3
  [0x34, 'device'], // 4
  [0x35, 'directory'], // 5
  [0x36, 'fifo'], // 6
  [0x4b, 'gnu-linkname'], // K
  [0x4c, 'gnu-name'], // L
  [0x53, 'sparse'], // S
  [0x67, 'pax-global'], // g
  [0x78, 'pax'], // x
]);
const MAY_HAVE_LINK_NAME: ReadonlySet<EntryType> = new Set(['hardlink', 'symlink', 'device', 'fifo']);

function nameOnly(type: EntryType, block: Uint8Array): TarHeader {
  return { type, name: Uint8Array.from(slice(block, FIELD.name)), linkName: EMPTY, size: 0, ownerMayExecute: false };
}

const EMPTY = new Uint8Array(0);

function formatOf(block: Uint8Array): 'ustar' | 'gnu' | null {
  const magic = Buffer.from(slice(block, FIELD.magic)).toString('latin1');
  if (magic === 'ustar\u000000') return 'ustar';
  return magic === 'ustar  \u0000' ? 'gnu' : null;
}

function checksumOf(block: Uint8Array): number {
  const [offset, length] = FIELD.checksum;
  let sum = length * 0x20;
  for (let index = 0; index < block.length; index++) {
    if (index < offset || index >= offset + length) sum += block[index] ?? 0;
  }
  return sum;
}

/** Octal digits after blanks, closed by blanks and NULs or by the end of the field; null for anything else. */
function octal(block: Uint8Array, field: Field): number | null {
  const text = Buffer.from(slice(block, field)).toString('latin1');
  const digits = /^ *([0-7]+)[ \u0000]*$/.exec(text)?.[1];
  return digits === undefined ? null : Number.parseInt(digits, 8);
}

/** Octal, empty, or base-256, which writers use for large ids and for times before 1970. */
function isNumber(block: Uint8Array, field: Field): boolean {
  const bytes = slice(block, field);
  const first = bytes[0] ?? 0;
  return first === 0x80 || first === 0xff || bytes.every((byte) => byte === 0) || octal(block, field) !== null;
}

/** Bytes up to the first NUL or the end of the field; null when something stands behind that NUL. */
function textField(block: Uint8Array, field: Field): Uint8Array | null {
  const bytes = slice(block, field);
  const end = bytes.indexOf(0);
  if (end === -1) return bytes;
  return bytes.subarray(end).every((byte) => byte === 0) ? bytes.subarray(0, end) : null;
}

function joined(prefix: Uint8Array, name: Uint8Array): Uint8Array {
  return prefix.length === 0 ? Uint8Array.from(name) : Buffer.concat([prefix, Buffer.from('/'), name]);
}

function slice(block: Uint8Array, [offset, length]: Field): Uint8Array {
  return block.subarray(offset, offset + length);
}
