import { strictUtf8 } from '../../engine/domain/path.ts';
import type { ByteSource } from './byte-source.ts';
import { parsePaxRecords } from './pax-records.ts';
import { RefusedArchive } from './refused-archive.ts';
import { BLOCK_BYTES, type EntryType, isZeroBlock, parseTarHeader, type TarHeader } from './tar-header.ts';

export interface TarEntry {
  readonly type: Exclude<EntryType, 'pax' | 'pax-global' | 'gnu-name' | 'gnu-linkname'>;
  /** As the archive has it, from metadata if there is some. */
  readonly name: Uint8Array;
  /** Of links, and of whatever else metadata gave a link target. */
  readonly linkTarget: Uint8Array;
  readonly hasLinkMetadata: boolean;
  readonly sparse: boolean;
  readonly size: number;
  readonly ownerMayExecute: boolean;
}

export interface TarReaderOptions {
  readonly maxHeaderBytes: number;
  /** Global headers change nothing here, but without a bound they could go on for ever. */
  readonly maxGlobalHeaders: number;
  /** False when no link can be tolerated anyway: then link metadata of the GNU kind refuses at once. */
  readonly toleratesLinks: boolean;
}

/**
 * Strict reader of one tar stream, entry by entry. After `next` the entry's data must be taken with `readData` until null.
 * Every structural fault ends it with a `RefusedArchive`.
 */
export class TarReader {
  readonly #source: ByteSource;
  readonly #options: TarReaderOptions;
  #dataLeft = 0;
  #padding = 0;
  #globalHeaders = 0;

  constructor(source: ByteSource, options: TarReaderOptions) {
    this.#source = source;
    this.#options = options;
  }

  /** The next entry with its metadata applied, or null after a proper end of the archive. */
  async next(): Promise<TarEntry | null> {
    const metadata = new Metadata();
    for (;;) {
      const header = await this.#nextHeader();
      if (header === null) {
        if (!metadata.isEmpty) throw new RefusedArchive('meta_dangling');
        await this.#expectEnd();
        return null;
      }
      switch (header.type) {
        case 'pax':
          metadata.claim('pax');
          metadata.addRecords(await this.#metadataOf(header));
          break;
        case 'gnu-name':
          metadata.claim('name');
          metadata.name = withoutNul(await this.#metadataOf(header));
          break;
        case 'gnu-linkname':
          if (!this.#options.toleratesLinks) throw new RefusedArchive('entry_link', lossyText(header.name));
          metadata.claim('linkname');
          metadata.linkTarget = withoutNul(await this.#metadataOf(header));
          break;
        case 'pax-global':
          if (!metadata.isEmpty) throw new RefusedArchive('meta_mixed');
          if (++this.#globalHeaders > this.#options.maxGlobalHeaders) throw new RefusedArchive('too_many_entries');
          requireHarmlessGlobal(await this.#metadataOf(header));
          break;
        default:
          return this.#entry(header, { ...header, type: header.type }, metadata);
      }
    }
  }

  /** The next piece of the entry's data, null when there is no more. */
  async readData(): Promise<Uint8Array | null> {
    if (this.#dataLeft === 0) {
      const padding = await this.#source.readFully(this.#padding);
      if (padding.length < this.#padding) throw new RefusedArchive('truncated');
      this.#padding = 0;
      return null;
    }
    const piece = await this.#source.read(this.#dataLeft);
    if (piece === null) throw new RefusedArchive('truncated');
    this.#dataLeft -= piece.length;
    return piece;
  }

  #entry(header: TarHeader, { type }: Pick<TarEntry, 'type'>, metadata: Metadata): TarEntry {
    const name = metadata.name ?? header.name;
    if (metadata.size !== null && metadata.size !== header.size) {
      throw new RefusedArchive('size_conflict', lossyText(name));
    }
    this.#startData(header.size);
    return {
      type,
      name,
      linkTarget: metadata.linkTarget ?? header.linkName,
      hasLinkMetadata: metadata.linkTarget !== null,
      sparse: metadata.sparse,
      size: header.size,
      ownerMayExecute: header.ownerMayExecute,
    };
  }

  /** Null at a zero block, which begins the end of the archive. */
  async #nextHeader(): Promise<TarHeader | null> {
    const block = await this.#source.readFully(BLOCK_BYTES);
    if (block.length < BLOCK_BYTES) throw new RefusedArchive('truncated');
    if (isZeroBlock(block)) return null;
    const header = parseTarHeader(block);
    if (header.ok) return header.value;
    throw new RefusedArchive(
      header.error,
      header.error === 'header_checksum' ? null : lossyText(block.subarray(0, 100)),
    );
  }

  async #metadataOf(header: TarHeader): Promise<Uint8Array> {
    if (header.size > this.#options.maxHeaderBytes)
      throw new RefusedArchive('header_too_large', lossyText(header.name));
    this.#startData(header.size);
    const data = Uint8Array.from(await this.#source.readFully(header.size));
    if (data.length < header.size) throw new RefusedArchive('truncated');
    this.#dataLeft = 0;
    await this.readData();
    return data;
  }

  #startData(size: number): void {
    this.#dataLeft = size;
    this.#padding = (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
  }

  /** One zero block has been read: a second one must follow, and then nothing but zeros, and not for ever. */
  async #expectEnd(): Promise<void> {
    const second = await this.#source.readFully(BLOCK_BYTES);
    if (!isZeroBlock(second)) throw new RefusedArchive('trailing_data');
    if (second.length < BLOCK_BYTES) throw new RefusedArchive('truncated');
    for (let zeros = 0; zeros <= MAX_CLOSING_ZEROS; ) {
      const piece = await this.#source.read(BLOCK_BYTES);
      if (piece === null) return;
      if (!isZeroBlock(piece)) break;
      zeros += piece.length;
    }
    throw new RefusedArchive('trailing_data');
  }
}

/** Text of a name for people and for skip rules; what isn't UTF-8 shows as U+FFFD. */
export function lossyText(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(end === -1 ? bytes : bytes.subarray(0, end));
}

// Writers pad to their record size; the largest that GNU tar can be told is below this.
const MAX_CLOSING_ZEROS = 16 * 1024 * 1024;

type Source = 'pax' | 'name' | 'linkname';

/** What stands between two entries and belongs to the second one. */
class Metadata {
  name: Uint8Array | null = null;
  linkTarget: Uint8Array | null = null;
  size: number | null = null;
  sparse = false;
  readonly #sources = new Set<Source>();

  get isEmpty(): boolean {
    return this.#sources.size === 0;
  }

  /** One header of each kind, and PAX never beside GNU ones: readers differ about which of them wins. */
  claim(source: Source): void {
    if (this.#sources.has(source)) throw new RefusedArchive('meta_duplicate');
    if (source === 'pax' ? !this.isEmpty : this.#sources.has('pax')) throw new RefusedArchive('meta_mixed');
    this.#sources.add(source);
  }

  addRecords(data: Uint8Array): void {
    const records = parsePaxRecords(data);
    if (!records.ok) throw new RefusedArchive(records.error);
    for (const [key, value] of records.value) {
      if (key === 'path') this.name = value;
      else if (key === 'linkpath') this.linkTarget = value;
      else if (key === 'size') this.size = paxSize(value);
      else if (key === 'hdrcharset') requireUtf8Charset(value);
      else if (key.startsWith('GNU.sparse.')) this.sparse = true;
    }
  }
}

function paxSize(value: Uint8Array): number {
  const text = strictUtf8(value) ?? '';
  const size = /^[0-9]{1,19}$/.test(text) ? BigInt(text) : null;
  if (size === null) throw new RefusedArchive('size_invalid');
  // A header's octal size stays far below this, so beyond it the two can't agree.
  if (size > BigInt(Number.MAX_SAFE_INTEGER)) throw new RefusedArchive('size_conflict');
  return Number(size);
}

function requireUtf8Charset(value: Uint8Array): void {
  if (strictUtf8(value) !== 'ISO-IR 10646 2000 UTF-8') throw new RefusedArchive('pax_charset');
}

/** A global header may carry a comment, as `git archive` writes it; anything else would reach over all entries. */
function requireHarmlessGlobal(data: Uint8Array): void {
  const records = parsePaxRecords(data);
  if (!records.ok) throw new RefusedArchive(records.error);
  for (const key of records.value.keys()) if (key !== 'comment') throw new RefusedArchive('pax_global');
}

/** A GNU name ends in one NUL, which its size counts. */
function withoutNul(data: Uint8Array): Uint8Array {
  if (data[data.length - 1] !== 0) throw new RefusedArchive('header_field_invalid');
  return data.slice(0, -1);
}
