/** One entry of an image's single layer. Paths are absolute; everything belongs to root unless `owner` says otherwise. */
export type ImageEntry =
  | { readonly kind: 'directory'; readonly path: string; readonly mode: number; readonly owner?: number }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'copy'; readonly path: string; readonly hostPath: string; readonly executable: boolean }
  | { readonly kind: 'text'; readonly path: string; readonly text: string; readonly executable: boolean };

/** What an image can be made of besides the shell, the users and the fixed directories, which are always in it. */
export interface ImagePieces {
  readonly node: boolean;
  /** Needs node. */
  readonly npm: boolean;
  readonly git: boolean;
  /** Host file or directory → absolute image path, e.g. the platform package of an agent CLI. */
  readonly copies?: Readonly<Record<string, string>>;
  /** Absolute image path → target, e.g. `/usr/local/bin/codex` → `../lib/codex/bin/codex`. */
  readonly links?: Readonly<Record<string, string>>;
}

/** A piece that this machine doesn't have. */
export class MissingPiece extends Error {
  readonly piece: string;
  readonly debianPackage: string;

  constructor(piece: string, debianPackage: string, cause?: unknown) {
    super(`${piece} is not on this machine`, { cause });
    this.name = 'MissingPiece';
    this.piece = piece;
    this.debianPackage = debianPackage;
  }
}
