/** A case that we hold to be wrong or undecidable, with the reason. It counts neither as passed nor as failed. */
export interface DisputedCase {
  /** `<family>/<id>`. */
  readonly id: string;
  readonly reason: string;
}

/** Printed by every run, so that no dispute is ever silent. */
export const DISPUTED: readonly DisputedCase[] = [];
