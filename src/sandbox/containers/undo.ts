/** Undoes what was begun, last first. Every step registers its undo before it begins: a call without an answer may have worked. */
export class UndoStack {
  readonly #steps: Array<{ readonly what: string; readonly undo: () => Promise<void> }> = [];

  push(what: string, undo: () => Promise<void>): void {
    this.#steps.push({ what, undo });
  }

  /** Runs all of them, also when some fail; answers what may have been left behind. */
  async run(): Promise<readonly string[]> {
    const leftBehind: string[] = [];
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      try {
        await step.undo();
      } catch {
        leftBehind.push(step.what);
      }
    }
    return leftBehind;
  }
}
