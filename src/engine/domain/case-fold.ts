/**
 * Key under which two names are the same for a file system that ignores case or normalisation.
 * JavaScript has no case folding: lower → upper → lower comes close, and where it differs it finds more collisions.
 */
export function foldKey(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize('NFC').toLowerCase().toUpperCase().toLowerCase().normalize('NFC');
}

export type EntryKind = 'file' | 'directory';

/** Two names that can't both exist: `duplicate` and `kind` for one spelling, `nfc` and `case` for two. */
export interface Collision {
  readonly kind: 'duplicate' | 'kind' | 'nfc' | 'case';
  /** As first met, without closing slash; an implied directory if that is what collides. */
  readonly earlier: string;
  readonly later: string;
}

interface Known {
  readonly spelling: string;
  readonly kind: EntryKind;
  stated: boolean;
}

/** Files and directories of one tree, the implied parents included. Spellings are compared as given: pass raw names. */
export class CollisionIndex {
  readonly #byKey = new Map<string, Known>();
  readonly #directories = new Set<string>();
  #nameLength = 0;

  /** Adds one entry and the directories it implies; answers the first collision, after which the index is of no use. */
  add(path: string, kind: EntryKind): Collision | null {
    const name = withoutClosingSlash(path);
    for (const parent of this.#newParents(name)) {
      const collision = this.#place(parent, 'directory', false);
      if (collision !== null) return collision;
      this.#directories.add(parent);
    }
    return this.#place(name, kind, true);
  }

  /** Number of directories that were implied by what lies below them; later statements of them change nothing. */
  get impliedDirectories(): number {
    return this.#directories.size;
  }

  /** Length of all names held, in UTF-16 units: what the memory of the index grows with. */
  get nameLength(): number {
    return this.#nameLength;
  }

  #newParents(name: string): string[] {
    const parents: string[] = [];
    for (let slash = name.lastIndexOf('/'); slash > 0; slash = name.lastIndexOf('/', slash - 1)) {
      const parent = name.slice(0, slash);
      if (this.#directories.has(parent)) break;
      parents.unshift(parent);
    }
    return parents;
  }

  #place(spelling: string, kind: EntryKind, stated: boolean): Collision | null {
    const key = foldKey(spelling);
    const known = this.#byKey.get(key);
    if (known === undefined) {
      this.#byKey.set(key, { spelling, kind, stated });
      this.#nameLength += spelling.length;
      return null;
    }
    const clash = clashOf(known, spelling, kind, stated);
    if (clash !== null) return { kind: clash, earlier: known.spelling, later: spelling };
    known.stated ||= stated;
    return null;
  }
}

/**
 * Collisions (`nfc`, `case`, `kind`) in a whole tree that one of the `touched` paths takes part in, itself or through a
 * directory above it. What collided before and is not touched does not count.
 */
export function collisionsOfTouched(treePaths: Iterable<string>, touched: Iterable<string>): Collision[] {
  const involved = new Set<string>();
  for (const path of touched) for (const name of selfAndParents(path)) involved.add(name);

  const groups = new Map<string, Map<string, EntryKind>>();
  const collisions: Collision[] = [];
  for (const path of treePaths) {
    for (const [position, name] of selfAndParents(path).entries()) {
      const kind: EntryKind = position === 0 && !path.endsWith('/') ? 'file' : 'directory';
      const key = foldKey(name);
      const group = groups.get(key);
      if (group === undefined) {
        groups.set(key, new Map([[name, kind]]));
        continue;
      }
      const sameName = group.get(name);
      if (sameName === kind) continue;
      for (const [earlier, earlierKind] of group) {
        if (!involved.has(earlier) && !involved.has(name)) continue;
        const clash = clashOf({ spelling: earlier, kind: earlierKind, stated: false }, name, kind, false);
        if (clash !== null) collisions.push({ kind: clash, earlier, later: name });
      }
      if (sameName === undefined) group.set(name, kind);
    }
  }
  return collisions;
}

const ASCII = /^[\u0000-\u007f]*$/;

function clashOf(known: Known, spelling: string, kind: EntryKind, stated: boolean): Collision['kind'] | null {
  if (known.spelling === spelling) {
    if (known.kind !== kind) return 'kind';
    return kind === 'file' || (known.stated && stated) ? 'duplicate' : null;
  }
  return known.spelling.normalize('NFC') === spelling.normalize('NFC') ? 'nfc' : 'case';
}

function selfAndParents(path: string): string[] {
  const names = [withoutClosingSlash(path)];
  for (let slash = path.lastIndexOf('/', path.length - 2); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
    names.push(path.slice(0, slash));
  }
  return names;
}

function withoutClosingSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
