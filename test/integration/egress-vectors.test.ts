import { describe, expect, it } from 'vitest';
import { sharedAvailable, sharedDir } from '../support/shared.ts';
import { family } from '../vectors/egress.ts';

describe.skipIf(!sharedAvailable())('the egress gateway', () => {
  it('decides every shared case as written down', { timeout: 180_000 }, async () => {
    const faults: string[] = [];
    let count = 0;
    const missing = (file: string) => faults.push(`${file} is missing`);
    for await (const { id, ok, detail } of family.run(`${sharedDir}/vectors`, missing)) {
      count += 1;
      if (!ok) faults.push(`${id}: ${detail}`);
    }
    expect(faults).toEqual([]);
    expect(count).toBeGreaterThan(1_600);
  });
});
