export type Listener = (range: { readonly fromId: number; readonly toId: number }) => unknown;

/** One listener with its position in the log: it gets every id once, in order, as few ranges as it is slow. */
export class Subscription {
  readonly #listener: Listener;
  #deliveredUpTo: number;
  #offeredUpTo: number;
  #running = false;
  #closed = false;

  constructor(listener: Listener, lastId: number) {
    this.#listener = listener;
    this.#deliveredUpTo = lastId;
    this.#offeredUpTo = lastId;
  }

  offer(lastId: number): void {
    if (this.#closed || lastId <= this.#offeredUpTo) return;
    this.#offeredUpTo = lastId;
    if (this.#running) return;
    this.#running = true;
    queueMicrotask(() => void this.#deliver());
  }

  close(): void {
    this.#closed = true;
  }

  /** Waits for a listener that answers a promise, so that it never runs twice at a time. */
  async #deliver(): Promise<void> {
    while (!this.#closed && this.#deliveredUpTo < this.#offeredUpTo) {
      const range = { fromId: this.#deliveredUpTo + 1, toId: this.#offeredUpTo };
      this.#deliveredUpTo = range.toId;
      try {
        await this.#listener(range);
      } catch {
        // A listener's exception is its own; the others and the next range must not suffer from it.
      }
    }
    this.#running = false;
  }
}
