import type { ExtractRefusal } from '../../engine/ports/exporter.ts';

/** Thrown inside this folder to leave the reader from any depth; `extract` turns it into a value and lets nothing else see it. */
export class RefusedArchive extends Error {
  readonly reason: string;
  /** Name of the entry as the archive spells it, or null when the fault belongs to none. */
  readonly entry: string | null;

  constructor(reason: string, entry: string | null = null, options?: ErrorOptions) {
    super(`archive refused: ${reason}`, options);
    this.reason = reason;
    this.entry = entry;
  }
}

export function toRefusal({ reason, entry }: RefusedArchive): ExtractRefusal {
  return { code: 'export_refused', reason, entry, remedy: remedyFor(reason) };
}

function remedyFor(reason: string): string {
  if (reason.startsWith('path_')) return PATH_REMEDY[reason] ?? 'rename it, or leave it out of the workspace';
  return REMEDY[reason] ?? 'the archive is damaged or was not made by a container engine; export again';
}

const PATH_REMEDY: Readonly<Record<string, string>> = {
  path_git_dir: 'delete it; only a .git directory at the root of the workspace is passed over',
  path_duplicate: 'the archive names it twice; export again while the container is paused',
  path_conflict: 'the archive has both a file and a directory of this name; export again while the container is paused',
};

const REMEDY: Readonly<Record<string, string>> = {
  entry_symlink:
    'replace the link by a file, delete it, or add it to .gitignore; links of the base must stay as they are',
  entry_hardlink: 'replace the link by a copy, delete it, or add it to .gitignore',
  entry_link: 'replace the link by a file, delete it, or add it to .gitignore',
  entry_device: 'delete the device',
  entry_fifo: 'delete the FIFO',
  entry_sparse: 'write the file without holes',
  entry_type: 'delete it; only files and directories leave a workspace',
  collision_case: 'rename one of the two; they are one name where case is ignored',
  collision_nfc: 'rename one of the two; they are one name in Unicode normal form',
  too_many_entries: 'delete what does not belong to the change, or add it to .gitignore',
  too_deep: 'nest the directories less deeply',
  names_too_large: 'shorten the names, or add what does not belong to the change to .gitignore',
  file_too_large: 'shrink or delete the file, add it to .gitignore, or raise limits.max_file_bytes',
  total_too_large: 'delete what does not belong to the change, or add it to .gitignore',
  skipped_too_large: 'delete part of what .gitignore excludes',
  truncated: 'the archive ends too early; export again',
  stream_failed: 'the engine broke the export off; look at its state and export again',
  write_failed: 'the files could not be written; look at free space and permissions of the state directory',
  target_exists: 'export into a directory that does not exist yet',
  aborted: 'the export was cancelled',
};
