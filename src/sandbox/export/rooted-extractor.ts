/**
 * The rooted extractor: one tar stream in, plain files and directories below one fresh directory out, or nothing.
 * Trusts neither the archive nor the engine that sends it. What is refused is refused at its header, before its data.
 */
import { type Collision, CollisionIndex } from '../../engine/domain/case-fold.ts';
import { type DirectoryPath, pathFromBytes, type RepoPath } from '../../engine/domain/path.ts';
import { err, ok } from '../../engine/domain/result.ts';
import type { Exporter, ExtractedFile, ExtractOptions, ExtractReport, NotedLink } from '../../engine/ports/exporter.ts';
import { ByteSource } from './byte-source.ts';
import { RefusedArchive, toRefusal } from './refused-archive.ts';
import { RootedWriter } from './rooted-writer.ts';
import { lossyText, type TarEntry, TarReader } from './tar-reader.ts';

/** `targetDir` must not exist yet, its parent must; after a refusal it is gone again. The stream is always closed. */
export function createRootedExtractor(): Exporter {
  return {
    async extract(archive, targetDir, options) {
      const source = new ByteSource(archive, options.signal);
      let writer: RootedWriter | null = null;
      try {
        writer = await RootedWriter.create(targetDir);
        return ok(await new Extraction(source, writer, options).run());
      } catch (cause) {
        source.close();
        await writer?.discard();
        if (cause instanceof RefusedArchive) return err(toRefusal(cause));
        throw cause;
      } finally {
        source.close();
      }
    },
  };
}

/** Names kept as a sample of what was skipped. */
const SKIPPED_SAMPLE = 100;
/** Bounds on what a skip rule lets pass, in multiples of the bounds on what is kept: no rule may make a stream endless. */
const SKIPPED_FACTOR = 10;
/** All names together, implied directories included: they are held in memory while the collisions are looked for. */
const MAX_NAME_BYTES = 64 * 1024 * 1024;

class Extraction {
  readonly #reader: TarReader;
  readonly #writer: RootedWriter;
  readonly #options: ExtractOptions;
  readonly #collisions = new CollisionIndex();
  readonly #files: ExtractedFile[] = [];
  readonly #directories: string[] = [];
  readonly #links: NotedLink[] = [];
  readonly #skipped = { count: 0, bytes: 0, sample: [] as string[] };
  #entries = 0;
  #totalBytes = 0;
  #rootSeen = false;

  constructor(source: ByteSource, writer: RootedWriter, options: ExtractOptions) {
    this.#reader = new TarReader(source, {
      maxHeaderBytes: options.limits.maxHeaderBytes,
      maxGlobalHeaders: options.limits.maxEntries,
      toleratesLinks: options.skip !== undefined || options.isUnchangedLink !== undefined,
    });
    this.#writer = writer;
    this.#options = options;
  }

  async run(): Promise<ExtractReport> {
    for (let entry = await this.#reader.next(); entry !== null; entry = await this.#reader.next()) {
      try {
        await this.#take(entry);
      } catch (cause) {
        throw withEntry(cause, entry);
      }
    }
    return {
      files: this.#files,
      directories: this.#directories,
      links: this.#links,
      skipped: { count: this.#skipped.count, sample: this.#skipped.sample },
      totalBytes: this.#totalBytes,
    };
  }

  async #take(entry: TarEntry): Promise<void> {
    // Data of such entries, or what an unknown type means by its size, is read differently by different readers.
    if (entry.type === 'unknown') throw new RefusedArchive('entry_type');
    if (entry.type === 'sparse') throw new RefusedArchive('entry_sparse');
    if (entry.type === 'directory' && entry.size > 0) throw new RefusedArchive('size_invalid');
    const name = withoutDotSlash(entry.name);
    if (entry.type === 'directory' && name.length === 0 && entry.name.length > 0) return this.#takeRoot();
    if (await this.#isSkipped(entry, name)) return this.#passOver(entry, name);

    switch (entry.type) {
      case 'file':
        return this.#takeFile(entry, name);
      case 'directory':
        return this.#takeDirectory(entry, name);
      case 'symlink':
        return this.#takeSymlink(entry, name);
      case 'hardlink':
      case 'device':
      case 'fifo':
        throw new RefusedArchive(`entry_${entry.type}`);
    }
  }

  /** `./` itself, as `tar -c .` writes it. */
  async #takeRoot(): Promise<void> {
    if (this.#rootSeen) throw new RefusedArchive('path_duplicate');
    this.#rootSeen = true;
    await this.#reader.readData();
  }

  async #takeFile(entry: TarEntry, name: Uint8Array): Promise<void> {
    requirePlain(entry);
    const file = pathFromBytes('file', name);
    if (!file.ok) throw new RefusedArchive(file.error.reason);
    this.#admit(file.value, name, 'file');
    if (entry.size > this.#options.limits.maxFileBytes) throw new RefusedArchive('file_too_large');
    if (this.#totalBytes + entry.size > this.#options.limits.maxTotalBytes) throw new RefusedArchive('total_too_large');
    this.#totalBytes += entry.size;
    await this.#writer.file(file.value, entry.ownerMayExecute, entry.size, () => this.#reader.readData());
    this.#files.push({ path: file.value, bytes: entry.size, executable: entry.ownerMayExecute });
  }

  async #takeDirectory(entry: TarEntry, name: Uint8Array): Promise<void> {
    requirePlain(entry);
    const directory = pathFromBytes('directory', name);
    if (!directory.ok) throw new RefusedArchive(directory.error.reason);
    this.#admit(directory.value, name, 'directory');
    await this.#writer.directory(directory.value);
    await this.#reader.readData();
    this.#directories.push(directory.value.slice(0, -1));
  }

  /** A link is never written. One that the base has as well is noted; it takes its name like a file. */
  async #takeSymlink(entry: TarEntry, name: Uint8Array): Promise<void> {
    const { isUnchangedLink } = this.#options;
    const link = pathFromBytes('file', name);
    const target = lossyText(entry.linkTarget);
    if (isUnchangedLink === undefined || !link.ok || entry.sparse) throw new RefusedArchive('entry_symlink');
    if (!isUnchangedLink(link.value, target)) throw new RefusedArchive('entry_symlink');
    requireNoData(entry);
    this.#admit(link.value, name, 'file');
    await this.#reader.readData();
    this.#links.push({ path: link.value, target });
  }

  /** Bounds and collisions of one name that passed the path rules. */
  #admit(path: RepoPath | DirectoryPath, rawName: Uint8Array, kind: 'file' | 'directory'): void {
    const { maxEntries, maxDepth } = this.#options.limits;
    if (++this.#entries > maxEntries) throw new RefusedArchive('too_many_entries');
    if (path.split('/').length - (kind === 'directory' ? 1 : 0) > maxDepth) throw new RefusedArchive('too_deep');
    // Raw spellings, or two names with one normal form would look like one name twice.
    const collision = this.#collisions.add(lossyText(rawName), kind);
    if (collision !== null) throw new RefusedArchive(COLLISION_REASON[collision.kind]);
    if (this.#collisions.impliedDirectories > maxEntries) throw new RefusedArchive('too_many_entries');
    if (this.#collisions.nameLength > MAX_NAME_BYTES) throw new RefusedArchive('names_too_large');
  }

  async #isSkipped(entry: TarEntry, name: Uint8Array): Promise<boolean> {
    if (this.#options.skip === undefined) return false;
    const kind = entry.type === 'file' || entry.type === 'directory' ? entry.type : 'other';
    return this.#options.skip({ name: lossyText(name).replace(/\/$/, ''), kind });
  }

  async #passOver(entry: TarEntry, name: Uint8Array): Promise<void> {
    if (entry.type !== 'file') requireNoData(entry);
    const { maxEntries, maxTotalBytes } = this.#options.limits;
    this.#skipped.count += 1;
    this.#skipped.bytes += entry.size;
    if (this.#skipped.count > SKIPPED_FACTOR * maxEntries) throw new RefusedArchive('skipped_too_large');
    if (this.#skipped.bytes > SKIPPED_FACTOR * maxTotalBytes) throw new RefusedArchive('skipped_too_large');
    if (this.#skipped.sample.length < SKIPPED_SAMPLE) this.#skipped.sample.push(lossyText(name));
    while ((await this.#reader.readData()) !== null);
  }
}

const COLLISION_REASON: Record<Collision['kind'], string> = {
  duplicate: 'path_duplicate',
  kind: 'path_conflict',
  nfc: 'collision_nfc',
  case: 'collision_case',
};

/** Metadata that would make the entry something other than the file or directory that its header says. */
function requirePlain(entry: TarEntry): void {
  if (entry.hasLinkMetadata) throw new RefusedArchive('entry_link');
  if (entry.sparse) throw new RefusedArchive('entry_sparse');
}

/** Some readers take the data after a link or a device for the next header, some don't. */
function requireNoData(entry: TarEntry): void {
  if (entry.size > 0) throw new RefusedArchive('size_invalid');
}

function withoutDotSlash(name: Uint8Array): Uint8Array {
  return name[0] === 0x2e && name[1] === 0x2f ? name.subarray(2) : name;
}

function withEntry(cause: unknown, entry: TarEntry): unknown {
  if (!(cause instanceof RefusedArchive) || cause.entry !== null) return cause;
  return new RefusedArchive(cause.reason, lossyText(entry.name), { cause });
}
