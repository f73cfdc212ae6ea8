/** What the transaction manager must know of one directory entry; links are never followed. */
export interface FsEntry {
  readonly kind: 'file' | 'directory' | 'symlink' | 'other';
  /** Permission bits (07777). */
  readonly mode: number;
  readonly size: number;
  /** Device and inode as text: equal for two names of one file. */
  readonly identity: string;
  readonly device: string;
  /** Nanoseconds. */
  readonly modified: bigint;
}

/**
 * The file system as the transaction manager uses it. Every call that changes something is here, so that a test can
 * stop, fail or record each one. Paths are absolute. Failures throw the error of the operating system (`code` such as
 * `ENOSPC`); absence is `null` where it is an expected answer.
 */
export interface Fs {
  /** Null when there is nothing, also when a parent is not a directory. */
  lstat(path: string): Promise<FsEntry | null>;
  /** Names in a directory, or null when there is none. */
  readdir(path: string): Promise<readonly string[] | null>;
  /** SHA-256 (hex) of a regular file's bytes, or null when there is no regular file; a final link is not followed. */
  sha256(path: string): Promise<string | null>;
  /** The bytes of a small regular file, or null when there is none. */
  readFile(path: string): Promise<Uint8Array | null>;
  /** True while a process with that identity runs; see `processIdentity`. */
  processRuns(identity: string): Promise<boolean>;
  /** Names a running process so that no later process is ever taken for it (boot, pid, start time). */
  processIdentity(pid: number): Promise<string>;

  /** One directory; an existing one is an error. `mode` is exact, or left to the umask. */
  mkdir(path: string, mode?: number): Promise<void>;
  /** Only an empty directory. */
  rmdir(path: string): Promise<void>;
  /** A second name for a file; an existing target is an error. */
  link(existing: string, created: string): Promise<void>;
  /** Replaces the target. */
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Copies a file's bytes to a new name, durably; for a target on another file system. */
  copyFile(from: string, to: string): Promise<void>;
  writeFile(path: string, text: string): Promise<void>;
  /** Removes a directory of ours with everything in it; absence is fine. */
  removeTree(path: string): Promise<void>;
  /** The file's bytes and size are on the disk when it resolves. */
  syncFile(path: string): Promise<void>;
  /** The directory's names are on the disk when it resolves. */
  syncDirectory(path: string): Promise<void>;
}
