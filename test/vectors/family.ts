/** Outcome of one case. `detail` says what was expected and what came; empty when the case passed. */
export interface CaseResult {
  readonly id: string;
  readonly ok: boolean;
  readonly detail: string;
}

/**
 * One family of case files. `run` yields a result per case of the files it knows below a directory that is laid out like
 * the shared one; a file that isn't there is told to `onMissing` and skipped. `families.ts` lists what is run.
 */
export interface VectorFamily {
  /** Folder below the directory, also the prefix of the ids that are printed: `tar`, `paths`. */
  readonly name: string;
  run(directory: string, onMissing: (file: string) => void): AsyncIterable<CaseResult>;
}

/** Case of a `{verdict, reason}` file: the reason that was given must be the expected one or one of the accepted others. */
export interface ExpectedVerdict {
  readonly verdict: 'ok' | 'refused';
  readonly reason: string | null;
  readonly also_acceptable?: readonly string[];
}

/** Compares a verdict; null when it is as expected, else the difference in words. Reason null means accepted. */
export function verdictDifference(expected: ExpectedVerdict, reason: string | null): string | null {
  if (expected.verdict === 'ok') return reason === null ? null : `expected ok, got ${reason}`;
  const accepted = [expected.reason, ...(expected.also_acceptable ?? [])];
  if (reason !== null && accepted.includes(reason)) return null;
  return `expected ${accepted.join(' or ')}, got ${reason ?? 'ok'}`;
}
