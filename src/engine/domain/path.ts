import { err, ok, type Result } from './result.ts';

declare const brand: unique symbol;

/** Repository-relative path of a file: NFC, `/`-separated, no closing slash, at most 4,096 UTF-8 bytes. */
export type RepoPath = string & { readonly [brand]: 'path' };
/** The same for a directory; always ends in `/`. The root itself has no such path. */
export type DirectoryPath = string & { readonly [brand]: 'directory' };

/** In the order in which they are reported when several apply. */
export const PATH_REASONS = [
  'path_empty',
  'path_not_utf8',
  'path_control',
  'path_bidi',
  'path_backslash',
  'path_absolute',
  'path_empty_part',
  'path_dot',
  'path_dotdot',
  'path_git_dir',
  'path_roundtable',
  'path_component_too_long',
  'path_too_long',
] as const;
export type PathReason = (typeof PATH_REASONS)[number];

export interface PathRefusal {
  readonly code: 'path_refused';
  readonly reason: PathReason;
  /** Every other reason that applies as well, in the order of `PATH_REASONS`. */
  readonly also: readonly PathReason[];
  readonly remedy: string;
}

export const MAX_COMPONENT_BYTES = 255;
export const MAX_PATH_BYTES = 4096;

/**
 * The one function that makes a repository path from text of any origin, or says why there is none.
 * A directory may be given with or without its closing slash. Nothing is expanded, decoded or trimmed.
 */
export function normalizePath(kind: 'file', input: string): Result<RepoPath, PathRefusal>;
export function normalizePath(kind: 'directory', input: string): Result<DirectoryPath, PathRefusal>;
export function normalizePath(
  kind: 'file' | 'directory',
  input: string,
): Result<RepoPath | DirectoryPath, PathRefusal> {
  const normal = input.normalize('NFC');
  const body = kind === 'directory' && normal.endsWith('/') ? normal.slice(0, -1) : normal;
  const [reason, ...also] = reasonsAgainst(normal, body);
  if (reason !== undefined) return err({ code: 'path_refused', reason, also, remedy: PATH_REMEDY[reason] });
  return ok((kind === 'directory' ? `${body}/` : body) as RepoPath | DirectoryPath);
}

/** A path from the bytes of an archive or of a git tree. Only strict UTF-8 is text. */
export function pathFromBytes(kind: 'file', bytes: Uint8Array): Result<RepoPath, PathRefusal>;
export function pathFromBytes(kind: 'directory', bytes: Uint8Array): Result<DirectoryPath, PathRefusal>;
export function pathFromBytes(
  kind: 'file' | 'directory',
  bytes: Uint8Array,
): Result<RepoPath | DirectoryPath, PathRefusal> {
  const text = strictUtf8(bytes);
  if (text === null)
    return err({ code: 'path_refused', reason: 'path_not_utf8', also: [], remedy: PATH_REMEDY.path_not_utf8 });
  return kind === 'directory' ? normalizePath('directory', text) : normalizePath('file', text);
}

/** The text that the bytes spell, byte order mark kept, or null when they are not UTF-8. */
export function strictUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Directories above a path, outermost first: `a/b/c` → `a/`, `a/b/`. For a directory, itself not included. */
export function parentDirectories(path: RepoPath | DirectoryPath): DirectoryPath[] {
  const parents: DirectoryPath[] = [];
  for (let slash = path.indexOf('/'); slash !== -1 && slash < path.length - 1; slash = path.indexOf('/', slash + 1)) {
    parents.push(path.slice(0, slash + 1) as DirectoryPath);
  }
  return parents;
}

/** True when `path` lies below `directory`, at any depth; a directory is not inside itself. */
export function isInside(directory: DirectoryPath, path: RepoPath | DirectoryPath): boolean {
  return path.length > directory.length && path.startsWith(directory);
}

function reasonsAgainst(normal: string, body: string): PathReason[] {
  if (body === '' && normal === '') return ['path_empty'];
  // A backslash is refused as such; read as a separator it also shows what else the author meant.
  const parts = body.replaceAll('\\', '/').replace(/^\//, '').split('/');
  const applies: Record<PathReason, () => boolean> = {
    path_empty: () => false,
    path_not_utf8: () => /\p{Surrogate}/u.test(normal),
    path_control: () => /[\u0000-\u001f\u007f-\u009f]/.test(normal),
    path_bidi: () => /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(normal),
    path_backslash: () => normal.includes('\\'),
    path_absolute: () => /^[/\\]|^(?:[/\\]{2}[?.][/\\])?[A-Za-z]:/.test(normal),
    path_empty_part: () => parts.includes('') && normal !== '/',
    path_dot: () => parts.includes('.'),
    path_dotdot: () => parts.includes('..'),
    path_git_dir: () => parts.some((part) => isAliasOf(part, GIT_DIRECTORY)),
    path_roundtable: () => isAliasOf(parts[0] ?? '', OWN_DIRECTORY),
    path_component_too_long: () => parts.some((part) => longerThan(MAX_COMPONENT_BYTES, part)),
    path_too_long: () => longerThan(MAX_PATH_BYTES, body),
  };
  return PATH_REASONS.filter((reason) => applies[reason]());
}

// What NTFS (short names, closing blanks and dots, streams) and HFS+ (ignorable code points) take for the same name.
const HFS_IGNORABLE = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const GIT_DIRECTORY = /^(?:\.git|git~1)[ .]*(?::.*)?$/s;
const OWN_DIRECTORY = /^(?:\.roundtable|roundt~1)[ .]*(?::.*)?$/s;

function isAliasOf(part: string, name: RegExp): boolean {
  return name.test(part.replace(HFS_IGNORABLE, '').toLowerCase());
}

function longerThan(maxBytes: number, text: string): boolean {
  // A UTF-16 unit takes at most three bytes, so short text needs no encoding.
  return text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes;
}

const PATH_REMEDY: Record<PathReason, string> = {
  path_empty: 'name a file or directory',
  path_not_utf8: 'rename it to valid UTF-8',
  path_control: 'rename it without control characters',
  path_bidi: 'rename it without bidirectional controls',
  path_backslash: 'separate the parts with /',
  path_absolute: 'give the path relative to the root of the repository',
  path_empty_part: 'write one / between two parts and none at the end of a file name',
  path_dot: 'leave out the . part',
  path_dotdot: 'leave out the .. part; nothing outside the repository can be named',
  path_git_dir: 'choose another name; .git and whatever a file system takes for it are protected',
  path_roundtable: 'choose another name; .roundtable and whatever a file system takes for it are protected',
  path_component_too_long: `shorten the name to ${MAX_COMPONENT_BYTES} bytes`,
  path_too_long: `shorten the path to ${MAX_PATH_BYTES} bytes`,
};
