import { EventEmitter } from 'node:events';
import type { Writable } from 'node:stream';
import { cellWidth } from '../text/measure.ts';

/** The palette's codes, which take no cells. */
const STYLE = /\u001b\[[0-9;]*m/g;

/**
 * The stream that Ink writes to. Ink 6.8 repaints changed lines relative to a cursor that it believes one row lower than
 * it is (`incrementalRendering` paints them a row too far down), and clears the whole terminal with its scrollback when a
 * frame is as high as the screen. So Ink runs in its debug mode, in which each write is one whole frame, and this painter
 * compares it with what is on the screen and addresses every changed row absolutely, inside synchronized output.
 * Trusts: that a frame's only escape codes are the palette's. Does not trust the terminal to keep up: while its buffer
 * is full, frames are dropped and the newest is painted when it drains.
 */
export class FramePainter extends EventEmitter {
  /** What Ink lays out for. */
  columns: number;
  rows: number;
  readonly #out: Writable;
  #shown: (string | null)[] = [];
  #frame: readonly string[] = [];
  #blocked = false;
  #closed = false;

  constructor(out: Writable, columns: number, rows: number) {
    super();
    this.#out = out;
    this.columns = columns;
    this.rows = rows;
  }

  write(chunk: string, callback?: unknown): boolean {
    // Ink ends with an empty write to learn that all is flushed; an empty frame does not occur.
    if (chunk !== '' && !this.#closed) {
      this.#frame = chunk.split('\n');
      this.#paint();
    }
    if (typeof callback === 'function') setImmediate(() => callback());
    return true;
  }

  /** The screen holds something else now (resize, resume, foreign output): paint every row. */
  invalidate(): void {
    this.#shown = [];
    this.#paint();
  }

  resize(columns: number, rows: number): void {
    this.columns = columns;
    this.rows = rows;
    this.#shown = [];
    this.emit('resize');
  }

  /** Later frames (Ink paints a last one while it unmounts) go nowhere. */
  close(): void {
    this.#closed = true;
  }

  #paint(): void {
    if (this.#blocked || this.#closed) return;
    let body = '';
    for (let row = 0; row < this.rows; row++) {
      const line = this.#frame[row] ?? '';
      if (this.#shown[row] === line) continue;
      this.#shown[row] = line;
      // Erasing after a full row would take its last cell: the cursor still stands on it.
      const erase = cellWidth(line.replace(STYLE, '')) < this.columns ? '\u001b[K' : '';
      body += `\u001b[${row + 1};1H${line}${erase}`;
    }
    if (body === '') return;
    const flowing = this.#out.write(`\u001b[?2026h${body}\u001b[?2026l`);
    if (flowing) return;
    this.#blocked = true;
    this.#out.once('drain', () => {
      this.#blocked = false;
      this.#paint();
    });
  }
}
