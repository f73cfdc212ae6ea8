/**
 * What git does not say about a patch's text. Nothing here decides what a patch does (git does); it can only refuse.
 */

export interface PatchText {
  /** First header name that breaks the rule on prefixes, and how. */
  readonly badName: { readonly reason: 'patch_prefix_missing' | 'path_absolute'; readonly name: string } | null;
  /** Lines that look like hunk lines follow a hunk whose counts are used up; git would drop them in silence. */
  readonly linesBeyondCounts: boolean;
  /** The last hunk announces more lines than the input has left. */
  readonly endsInsideHunk: boolean;
  /** Some hunk below line 1 has no context line, so nothing but its line number says where it belongs. */
  readonly hasUnanchoredHunk: boolean;
  /** Could hold a binary section, whose result git may take from the object store by name. */
  readonly mayBeBinary: boolean;
}

/** Walks the text as `git apply` does: headers, hunks by their counts, everything else skipped. */
export function scanPatchText(patch: Uint8Array): PatchText {
  const text = Buffer.from(patch.buffer, patch.byteOffset, patch.byteLength).toString('latin1');
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const found = { badName: null, linesBeyondCounts: false, endsInsideHunk: false, hasUnanchoredHunk: false };
  const state: Mutable = { ...found, mayBeBinary: / differ$|GIT binary patch/m.test(text) };
  let at = 0;
  while (at < lines.length) {
    if (lines[at]?.startsWith('diff --git ')) at = scanGitHeader(lines, at, state);
    else if (isTraditionalHeader(lines, at)) {
      judgeNames(state, nameIn(lines[at], 4), nameIn(lines[at + 1], 4));
      at += 2;
    } else {
      at += 1;
      continue;
    }
    while (lines[at]?.startsWith('@@ -')) at = scanHunk(lines, at, state);
  }
  return state;
}

type Mutable = { -readonly [Key in keyof PatchText]: PatchText[Key] };

const HEADER_LINE =
  /^(?:--- |\+\+\+ |old mode |new mode |deleted file mode |new file mode |copy from |copy to |rename (?:old|new|from|to) |similarity index |dissimilarity index |index )/;

function scanGitHeader(lines: readonly string[], start: number, state: Mutable): number {
  let at = start + 1;
  let oldName: string | null = null;
  let newName: string | null = null;
  let named = false;
  for (; at < lines.length && HEADER_LINE.test(lines[at] ?? ''); at++) {
    const line = lines[at] ?? '';
    if (line.startsWith('--- ')) oldName = nameIn(line, 4);
    else if (line.startsWith('+++ ')) newName = nameIn(line, 4);
    else if (/^(?:copy|rename) /.test(line)) named = true;
  }
  if (oldName !== null || newName !== null) judgeNames(state, oldName, newName);
  else if (!named) judgeGitLine(state, (lines[start] ?? '').slice('diff --git '.length));
  return at;
}

function isTraditionalHeader(lines: readonly string[], at: number): boolean {
  return (
    (lines[at] ?? '').startsWith('--- ') &&
    (lines[at + 1] ?? '').startsWith('+++ ') &&
    (lines[at + 2] ?? '').startsWith('@@ -')
  );
}

function nameIn(line: string | undefined, from: number): string {
  return (line ?? '').slice(from).replace(/\r$/, '').split('\t', 1)[0] ?? '';
}

function judgeNames(state: Mutable, oldName: string | null, newName: string | null): void {
  const names = [oldName, newName].filter((name): name is string => name !== null && name !== '/dev/null');
  const absolute = names.find((name) => /^"?\//.test(name));
  if (absolute !== undefined) state.badName ??= { reason: 'path_absolute', name: absolute };
  const unprefixed = names.find((name) => !ONE_LETTER_PREFIX.test(name));
  if (unprefixed === undefined) return;
  const [first, second] = names.map((name) => /^"?([^/]+)\//.exec(name)?.[1]);
  if (first !== undefined && second !== undefined && first !== second) return;
  state.badName ??= { reason: 'patch_prefix_missing', name: unprefixed };
}

/** Without other header lines that name the file, the `diff --git` line does. Where it can't be split, git refuses it. */
function judgeGitLine(state: Mutable, names: string): void {
  const parts = names.replace(/\r$/, '').split(' ');
  if (parts.length === 2) judgeNames(state, parts[0] ?? null, parts[1] ?? null);
  else if (!ONE_LETTER_PREFIX.test(names)) state.badName ??= { reason: 'patch_prefix_missing', name: names };
}

const ONE_LETTER_PREFIX = /^"?[A-Za-z]\//;

function scanHunk(lines: readonly string[], start: number, state: Mutable): number {
  const header = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(lines[start] ?? '');
  let at = start + 1;
  state.endsInsideHunk = false;
  if (header === null) return at;
  let oldLeft = Number(header[2] ?? 1);
  let newLeft = Number(header[3] ?? 1);
  let context = 0;
  for (; at < lines.length && (oldLeft > 0 || newLeft > 0); at++) {
    const kind = (lines[at] ?? '')[0] ?? ' ';
    if (!' +-\\'.includes(kind)) break;
    if (kind === ' ') context += 1;
    if (kind === ' ' || kind === '-') oldLeft -= 1;
    if (kind === ' ' || kind === '+') newLeft -= 1;
  }
  // At line 0 or 1 git wants such a hunk to be the whole file, so there it can mean one thing only.
  if (context === 0 && Number(header[1]) > 1) state.hasUnanchoredHunk = true;
  state.endsInsideHunk = at >= lines.length && (oldLeft > 0 || newLeft > 0);
  while (lines[at]?.startsWith('\\')) at += 1;
  if (oldLeft <= 0 && newLeft <= 0 && hunkLineAt(lines, at)) state.linesBeyondCounts = true;
  return at;
}

/** A line of another hunk's kind, empty lines passed over; not a mail signature and not the next section's header. */
function hunkLineAt(lines: readonly string[], start: number): boolean {
  let at = start;
  while (at < lines.length && /^\r?$/.test(lines[at] ?? '')) at += 1;
  if (/^-- ?\r?$/.test(lines[at] ?? '')) at += 1;
  if (isTraditionalHeader(lines, at)) return false;
  return /^[ +-]/.test(lines[at] ?? '');
}
