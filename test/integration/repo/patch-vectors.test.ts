import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { sharedAvailable, sharedDir } from '../../support/shared.ts';
import { family } from '../../vectors/patches.ts';

describe.skipIf(!sharedAvailable())('the private repository', () => {
  it('makes of every shared patch what is written down', { timeout: 600_000 }, async () => {
    const faults: string[] = [];
    const missing: string[] = [];
    let count = 0;
    for await (const { id, ok, detail } of family.run(path.join(sharedDir, 'vectors'), (file) => missing.push(file))) {
      count += 1;
      if (!ok) faults.push(`${id}: ${detail}`);
    }
    expect(missing).toEqual([]);
    expect(faults).toEqual([]);
    expect(count).toBeGreaterThanOrEqual(239);
  });
});
