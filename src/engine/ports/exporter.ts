import type { Readable } from 'node:stream';

/** Bounds of one extraction. All are inclusive maxima. */
export interface ExtractLimits {
  /** Files and directories together, skipped entries not counted. */
  readonly maxEntries: number;
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
  /** Number of path components. */
  readonly maxDepth: number;
  /** Size of one PAX or GNU metadata record. */
  readonly maxHeaderBytes: number;
}

/** One file of an extracted workspace, path relative and normal (NFC, `/`). */
export interface ExtractedFile {
  readonly path: string;
  readonly bytes: number;
  readonly executable: boolean;
}

/** A symbolic link that was met and not written; only an `unchanged` one is tolerated. */
export interface NotedLink {
  readonly path: string;
  readonly target: string;
}

export interface ExtractReport {
  readonly files: readonly ExtractedFile[];
  /** Directory entries met in the archive (not implied parents). */
  readonly directories: readonly string[];
  readonly links: readonly NotedLink[];
  readonly skipped: { readonly count: number; readonly sample: readonly string[] };
  readonly totalBytes: number;
}

/** Why an archive was refused as a whole; `reason` is a stable code such as `path_dotdot`, `entry_type`, `checksum`. */
export interface ExtractRefusal {
  readonly code: 'export_refused';
  readonly reason: string;
  readonly entry: string | null;
  readonly remedy: string;
}

export interface ExtractOptions {
  readonly limits: ExtractLimits;
  /**
   * Asked after a header is structurally valid and before path, type and collision checks, with the raw entry name
   * (leading `./` and closing slash taken off). A skipped entry's data is passed over and nothing of it is written.
   */
  readonly skip?: (entry: {
    readonly name: string;
    readonly kind: 'file' | 'directory' | 'other';
  }) => boolean | Promise<boolean>;
  /** True when the link is in the base tree with this very target. Without it every link refuses. */
  readonly isUnchangedLink?: (path: string, target: string) => boolean;
  readonly signal?: AbortSignal;
}

/** The rooted extractor: reads one tar stream and writes plain files and directories below one directory, or nothing is used. */
export interface Exporter {
  extract(
    archive: Readable,
    targetDir: string,
    options: ExtractOptions,
  ): Promise<{ ok: true; value: ExtractReport } | { ok: false; error: ExtractRefusal }>;
}
