import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { sharedAvailable, sharedDir } from '../support/shared.ts';
import { run } from '../vectors/egress.ts';

describe.skipIf(!sharedAvailable())('the egress gateway', () => {
  it('decides every shared case as written down', { timeout: 180_000 }, async () => {
    const faults: string[] = [];
    let count = 0;
    for await (const { id, ok, detail } of run(path.join(sharedDir, 'vectors/egress'))) {
      count += 1;
      if (!ok) faults.push(`${id}: ${detail}`);
    }
    expect(faults).toEqual([]);
    expect(count).toBeGreaterThan(1_600);
  });
});
