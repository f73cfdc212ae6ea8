import stringWidth from 'string-width';
import { sanitizeLine } from './sanitize.ts';

/**
 * Text of which each code unit is one cell everywhere: ASCII, Latin letters, the punctuation and the signs of this
 * screen's own frames. Nearly every row is of this kind, and segmenting it would be most of a frame's time.
 */
const PLAIN =
  /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u017f\u2013\u2014\u2018-\u201e\u2022\u2026\u2190-\u2193\u2212\u2500-\u257f\u258c\u25b8\u25cf\u2713\u2717]*$/;
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Text for one grid cell: inert (see sanitizeLine) and made only of clusters whose width all terminals agree on. Emoji
 * with a variation selector, skin tone or joiner shrink to their first picture, keycaps and flags to letters, clusters of
 * several marks or letters to their base.
 */
export function gridText(text: string): string {
  if (PLAIN.test(text)) return text;
  const line = sanitizeLine(text);
  const out: string[] = [];
  for (const { segment } of segmenter.segment(line.normalize('NFC'))) out.push(simpleCluster(segment));
  return out.join('');
}

/** Cells that a text takes on the screen when written into the grid. */
export function cellWidth(text: string): number {
  const line = gridText(text);
  return PLAIN.test(line) ? line.length : stringWidth(line);
}

/** At most `cells` cells of it, with `…` at the end when something was cut. */
export function truncate(text: string, cells: number): string {
  return cut(gridText(text), cells).text;
}

/** Exactly `cells` cells: cut with `…`, or filled with spaces at the end (`start`: in front, for numbers). */
export function fitCells(text: string, cells: number, align: 'end' | 'start' = 'end'): string {
  const piece = cut(gridText(text), cells);
  const space = ' '.repeat(Math.max(0, cells - piece.width));
  return align === 'end' ? piece.text + space : space + piece.text;
}

/** The cells `from` ≤ c < `to` of a text; half of a wide character at an edge becomes a space. */
export function sliceCells(text: string, from: number, to: number): string {
  const line = gridText(text);
  if (PLAIN.test(line)) return line.slice(from, to);
  const out: string[] = [];
  let at = 0;
  for (const { segment } of segmenter.segment(line)) {
    const width = stringWidth(segment);
    const end = at + width;
    if (at >= from && end <= to) out.push(segment);
    else if (end > from && at < to) out.push(' '.repeat(Math.min(end, to) - Math.max(at, from)));
    at = end;
    if (at >= to) break;
  }
  return out.join('');
}

/**
 * Words of a text in lines of at most `cells` cells; a longer word is cut hard. Line feeds stay breaks. At most
 * `maxLines` lines, the last of them ending in `…` when there was more.
 */
export function wrapText(text: string, cells: number, maxLines = 200): string[] {
  const width = Math.max(1, cells);
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    for (const line of wrapParagraph(gridText(paragraph), width)) {
      if (lines.length === maxLines) {
        lines[maxLines - 1] = cut(`${lines[maxLines - 1] ?? ''}…`, width).text;
        return lines;
      }
      lines.push(line);
    }
  }
  return lines;
}

function* wrapParagraph(text: string, width: number): Generator<string> {
  let line = '';
  let used = 0;
  for (const word of text.split(' ')) {
    const size = plainWidth(word);
    if (used > 0 && used + 1 + size <= width) {
      line += ` ${word}`;
      used += 1 + size;
      continue;
    }
    if (used > 0) yield line;
    if (size <= width) {
      line = word;
      used = size;
      continue;
    }
    line = '';
    used = 0;
    for (const { segment } of segmenter.segment(word)) {
      const cells = plainWidth(segment);
      if (used + cells > width && used > 0) {
        yield line;
        line = '';
        used = 0;
      }
      line += segment;
      used += cells;
    }
  }
  yield line;
}

function plainWidth(line: string): number {
  return PLAIN.test(line) ? line.length : stringWidth(line);
}

function cut(line: string, cells: number): { readonly text: string; readonly width: number } {
  if (cells <= 0) return { text: '', width: 0 };
  if (PLAIN.test(line)) {
    if (line.length <= cells) return { text: line, width: line.length };
    return { text: `${line.slice(0, cells - 1)}…`, width: cells };
  }
  let text = '';
  let width = 0;
  let fitting = '';
  let fittingWidth = 0;
  for (const { segment } of segmenter.segment(line)) {
    const size = stringWidth(segment);
    if (width + size > cells) return { text: `${fitting}…`, width: fittingWidth + 1 };
    text += segment;
    width += size;
    if (width <= cells - 1) {
      fitting = text;
      fittingWidth = width;
    }
  }
  return { text, width };
}

const REGIONAL_FIRST = 0x1f1e6;

function simpleCluster(cluster: string): string {
  if (cluster.length === 1) return isZeroWidth(cluster) ? visibleMark(cluster) : cluster;
  const points = Array.from(cluster);
  const [first = ''] = points;
  const code = first.codePointAt(0) ?? 0;
  if (code >= REGIONAL_FIRST && code <= REGIONAL_FIRST + 25) {
    return points
      .map((point) => (point.codePointAt(0) ?? 0) - REGIONAL_FIRST)
      .map((letter) => (letter >= 0 && letter <= 25 ? String.fromCharCode(0x41 + letter) : ''))
      .join('');
  }
  if (isZeroWidth(first)) return visibleMark(first);
  // Base and at most two nonspacing marks: selectors, joiners, modifiers, enclosing marks and conjuncts are what
  // terminals disagree on. A joiner after a Latin letter has no use but to deceive, so it is shown.
  let kept = first;
  for (const point of points.slice(1, 3)) {
    if (!/^[\p{Nonspacing_Mark}]$/u.test(point) || /^[\ufe00-\ufe0f]$/.test(point)) break;
    kept += point;
  }
  if (code < 0x300 && /[\u200c\u200d]/.test(cluster)) kept += cluster.includes('\u200c') ? '<U+200C>' : '<U+200D>';
  return kept;
}

function isZeroWidth(character: string): boolean {
  return /[\p{Mark}\p{Default_Ignorable_Code_Point}\p{Format}]/u.test(character);
}

function visibleMark(character: string): string {
  return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
}
