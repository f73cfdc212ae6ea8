/** Diffs for people, structured from git's own output. Trusts: git. Text of lines is data; the reader sanitises it. */
import type { ObjectId } from '../domain/ids.ts';
import type { DiffFile, DiffHunk, DiffLine } from '../ports/private-repository.ts';
import type { GitPlace, GitRunner } from './git-runner.ts';
import { parseRawDiff, type RawRow } from './raw-diff.ts';
import { PLAIN_DIFF } from './tree-rules.ts';

interface DiffOptions {
  readonly contextLines: number;
  readonly maxLinesPerFile: number;
  readonly detectRenames: boolean;
}

export async function displayDiff(
  runner: GitRunner,
  place: GitPlace,
  trees: { readonly old: ObjectId; readonly new: ObjectId },
  options: DiffOptions,
  signal: AbortSignal,
): Promise<readonly DiffFile[]> {
  const renames = options.detectRenames ? ['--find-renames', '-l2000'] : ['--no-renames'];
  const shared = ['diff-tree', '-r', ...PLAIN_DIFF, ...renames];
  const listing = [...shared, '--raw', '--numstat', '-z', '--no-abbrev', trees.old, trees.new];
  const { rows, rest } = parseRawDiff(await runner.must({ ...place, args: listing, signal }));
  const counts = parseNumstat(rest, rows);
  // A change of type is printed as a deletion and a creation.
  const owners = rows.flatMap((row, index) => (row.status === 'T' ? [index, index] : [index]));
  const bodies = rows.map((): Body => ({ hunks: [], lines: 0, truncated: false, binary: false }));
  const reader = new PatchReader(
    owners.map((index) => bodies[index]).filter((body) => body !== undefined),
    options,
  );
  const text = [...shared, '-p', `--unified=${options.contextLines}`, '--full-index', trees.old, trees.new];
  await runner.must({ ...place, args: text, signal, onStdout: (chunk) => reader.push(chunk) });
  reader.end();
  return rows.map((row, index) => fileOf(row, counts[index], bodies[index]));
}

interface Counts {
  readonly additions: number;
  readonly deletions: number;
  readonly binary: boolean;
}

interface Body {
  hunks: DiffHunk[];
  lines: number;
  truncated: boolean;
  binary: boolean;
}

function fileOf(row: RawRow, counts: Counts | undefined, body: Body | undefined): DiffFile {
  return {
    path: row.path ?? row.pathBytes.toString('utf8'),
    renamedFrom: row.status.startsWith('R') ? row.from : null,
    status: STATUS[row.status[0] ?? ''] ?? 'modified',
    oldMode: row.oldMode,
    newMode: row.newMode,
    binary: (counts?.binary ?? false) || (body?.binary ?? false),
    additions: counts?.additions ?? 0,
    deletions: counts?.deletions ?? 0,
    hunks: body?.hunks ?? [],
    truncated: body?.truncated ?? false,
  };
}

const STATUS: Readonly<Record<string, DiffFile['status']>> = { A: 'added', D: 'deleted', R: 'renamed', M: 'modified' };

/** `<added> TAB <deleted> TAB <path> NUL`; a rename has an empty path and two more fields. */
function parseNumstat(output: Buffer, rows: readonly RawRow[]): Counts[] {
  const fields = output.toString('latin1').split('\0');
  let at = 0;
  return rows.map(() => {
    const [added, deleted, path] = (fields[at++] ?? '').split('\t');
    if (path === '') at += 2;
    return { additions: Number(added) || 0, deletions: Number(deleted) || 0, binary: added === '-' };
  });
}

/** Reads the text of a diff as it streams in; hunks are told from headers by their counts. */
class PatchReader {
  readonly #sections: readonly Body[];
  readonly #maxLines: number;
  #section = -1;
  #pieces: Buffer[] = [];
  #hunk: { lines: DiffLine[]; oldLine: number; newLine: number; oldLeft: number; newLeft: number } | null = null;

  constructor(sections: readonly Body[], options: DiffOptions) {
    this.#sections = sections;
    this.#maxLines = options.maxLinesPerFile;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      this.#pieces.push(chunk.subarray(start, end));
      this.#line(Buffer.concat(this.#pieces));
      this.#pieces = [];
      start = end + 1;
    }
    if (start < chunk.length) this.#pieces.push(Buffer.from(chunk.subarray(start)));
  }

  end(): void {
    if (this.#pieces.length > 0) this.#line(Buffer.concat(this.#pieces));
    if (this.#section !== this.#sections.length - 1) throw new Error('the sections of a diff do not match its rows');
  }

  #line(line: Buffer): void {
    const hunk = this.#hunk;
    if (hunk !== null && (hunk.oldLeft > 0 || hunk.newLeft > 0 || line[0] === BACKSLASH)) {
      this.#hunkLine(line);
      return;
    }
    const text = line.toString('utf8', 0, Math.min(line.length, MAX_LINE_BYTES));
    if (text.startsWith('diff --git ')) {
      this.#section += 1;
      this.#hunk = null;
    } else if (text.startsWith('@@ -')) this.#startHunk(text);
    else if (text.startsWith('Binary files ')) this.#body().binary = true;
  }

  #startHunk(header: string): void {
    const [, oldStart, oldLines = '1', newStart, newLines = '1'] = HUNK.exec(header) ?? [];
    const lines: DiffLine[] = [];
    const numbers = {
      oldStart: Number(oldStart),
      oldLines: Number(oldLines),
      newStart: Number(newStart),
      newLines: Number(newLines),
    };
    this.#hunk = {
      lines,
      oldLine: numbers.oldStart,
      newLine: numbers.newStart,
      oldLeft: numbers.oldLines,
      newLeft: numbers.newLines,
    };
    const body = this.#body();
    if (body.lines >= this.#maxLines) body.truncated = true;
    else body.hunks.push({ header, ...numbers, lines });
  }

  #hunkLine(line: Buffer): void {
    const hunk = this.#hunk;
    if (hunk === null) return;
    const kind = KIND[line[0] ?? 0] ?? 'context';
    const oldLine = kind === 'context' || kind === 'removed' ? hunk.oldLine++ : null;
    const newLine = kind === 'context' || kind === 'added' ? hunk.newLine++ : null;
    if (oldLine !== null) hunk.oldLeft -= 1;
    if (newLine !== null) hunk.newLeft -= 1;
    const body = this.#body();
    if (body.lines >= this.#maxLines) {
      body.truncated = true;
      return;
    }
    body.lines += 1;
    if (line.length > MAX_LINE_BYTES) body.truncated = true;
    const text = line.toString('utf8', 1, Math.min(line.length, MAX_LINE_BYTES));
    hunk.lines.push({ kind, text: kind === 'note' ? text.trimStart() : text, oldLine, newLine });
  }

  #body(): Body {
    const body = this.#sections[this.#section];
    if (body === undefined) throw new Error('a diff has more sections than rows');
    return body;
  }
}

const BACKSLASH = 92;
const KIND: Readonly<Record<number, DiffLine['kind']>> = {
  32: 'context',
  43: 'added',
  45: 'removed',
  [BACKSLASH]: 'note',
};
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
/** Longer lines are cut, and the file is marked as truncated. */
const MAX_LINE_BYTES = 8_192;
