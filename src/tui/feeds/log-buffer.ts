/** One line of a session's output as it came, without its line feed; it is made inert when it is painted. */
export interface LogLine {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

/** A longer line is cut: nobody reads it on a screen, and a stream without line feeds must not grow without bound. */
const MAX_LINE = 4_000;

/**
 * The last `capacity` lines of a log. Lines are numbered from 0 since the log began, so a reader who scrolled up keeps
 * his place while lines are added and dropped. Partial lines of each stream wait for their end but are shown.
 */
export class LogBuffer {
  readonly #capacity: number;
  readonly #lines: (LogLine | undefined)[] = [];
  #first = 0;
  #end = 0;
  readonly #partial = { stdout: '', stderr: '' };

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Number of the first line still held. */
  get first(): number {
    return this.#first;
  }

  /** One past the number of the last line; an unfinished last line counts. */
  get end(): number {
    return this.#end + (this.#partial.stdout === '' ? 0 : 1) + (this.#partial.stderr === '' ? 0 : 1);
  }

  append(stream: 'stdout' | 'stderr', text: string): void {
    let from = 0;
    while (from < text.length) {
      const feed = text.indexOf('\n', from);
      const piece = text.slice(from, feed < 0 ? text.length : feed);
      const room = MAX_LINE - this.#partial[stream].length;
      if (room > 0) this.#partial[stream] += piece.slice(0, room);
      if (feed < 0) return;
      this.#push({ stream, text: this.#partial[stream] });
      this.#partial[stream] = '';
      from = feed + 1;
    }
  }

  line(number: number): LogLine | null {
    if (number >= this.#first && number < this.#end) return this.#lines[number % this.#capacity] ?? null;
    const extra = number - this.#end;
    if (extra < 0 || number >= this.end) return null;
    const stream = this.#partial.stdout !== '' && extra === 0 ? 'stdout' : 'stderr';
    return { stream, text: this.#partial[stream] };
  }

  #push(line: LogLine): void {
    this.#lines[this.#end % this.#capacity] = line;
    this.#end++;
    this.#first = Math.max(this.#first, this.#end - this.#capacity);
  }
}
