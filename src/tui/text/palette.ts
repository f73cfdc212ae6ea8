import type { Row, Tone } from './row.ts';

/** Opening codes (SGR parameters) of each tone; no entry means plain text. */
export type Palette = Readonly<Partial<Record<Tone, string>>>;

/** Only the sixteen colours of the terminal's own theme, so that light and dark backgrounds both stay readable. */
const COLOURS: Palette = {
  dim: '2',
  strong: '1',
  good: '32',
  bad: '31',
  warn: '33',
  info: '36',
  added: '32',
  removed: '31',
  hunk: '36',
  inverse: '7',
};

/** NO_COLOR asks for no colour; weight and inversion are not colours. */
const MONOCHROME: Palette = { dim: '2', strong: '1', bad: '1', warn: '1', inverse: '7' };

export function paletteFor(env: Readonly<Record<string, string | undefined>>): Palette {
  if (env.TERM === 'dumb') return {};
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return MONOCHROME;
  return COLOURS;
}

/** The only place where the screen makes escape codes from a row. Its text must have been through `fitRow`. */
export function paintRow(row: Row, palette: Palette, selected = false): string {
  if (selected && palette.inverse !== undefined) {
    return `\u001b[${palette.inverse}m${row.map((piece) => piece.text).join('')}\u001b[0m`;
  }
  let out = '';
  for (const piece of row) {
    const code = palette[piece.tone];
    out += code === undefined ? piece.text : `\u001b[${code}m${piece.text}\u001b[0m`;
  }
  return out;
}
