import { DISPUTED, type DisputedCase } from './disputed.ts';
import type { VectorFamily } from './family.ts';

export interface VectorSummary {
  readonly passed: number;
  readonly failed: number;
  readonly disputed: number;
}

/** Runs all cases of the families and says in lines what failed, what is disputed and what is missing. */
export async function runFamilies(
  families: readonly VectorFamily[],
  directory: string,
  say: (line: string) => void,
  disputes: readonly DisputedCase[] = DISPUTED,
): Promise<VectorSummary> {
  const reasons = new Map(disputes.map(({ id, reason }) => [id, reason]));
  const summary = { passed: 0, failed: 0, disputed: 0 };
  for (const family of families) {
    for await (const { id, ok, detail } of family.run(directory, (file) => say(`skipped: ${file} is not there`))) {
      const fullId = `${family.name}/${id}`;
      const reason = reasons.get(fullId);
      if (reason !== undefined) {
        summary.disputed += 1;
        say(`disputed: ${fullId}: ${reason} (${ok ? 'passes' : detail})`);
      } else if (ok) {
        summary.passed += 1;
      } else {
        summary.failed += 1;
        say(`failed: ${fullId}: ${detail}`);
      }
    }
  }
  return summary;
}
