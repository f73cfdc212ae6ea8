import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sharedAvailable, sharedDir } from '../support/shared.ts';
import { FAMILIES } from '../vectors/families.ts';
import { runFamilies } from '../vectors/run-families.ts';

/** Families that have a test file of their own, so that they run beside each other. */
const ELSEWHERE = ['patches', 'egress'];

describe.skipIf(!sharedAvailable())('shared case files', () => {
  it.each(FAMILIES.filter(({ name }) => !ELSEWHERE.includes(name)))(
    'all cases of $name come out as expected',
    async (family) => {
      const lines: string[] = [];
      const summary = await runFamilies([family], path.join(sharedDir, 'vectors'), (line) => lines.push(line));
      for (const line of lines) process.stderr.write(`${line}\n`);
      expect(lines.filter((line) => line.startsWith('failed:'))).toEqual([]);
      expect(summary.failed).toBe(0);
      expect(summary.passed).toBeGreaterThan(0);
    },
    900_000, // the patches start git some thousand times; on a busy machine that takes minutes
  );
});

describe('runner of case files', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'rt-vectors-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('fails a case with the wrong answer, counts a disputed one apart and names missing files', async () => {
    const one = (id: string, reason: string) => ({
      id,
      kind: 'file',
      input: '../x',
      expect: { verdict: 'refused', normal: null, reason },
    });
    await mkdir(path.join(directory, 'paths'));
    await writeFile(
      path.join(directory, 'paths/paths.json'),
      JSON.stringify({ cases: [one('right', 'path_dotdot'), one('wrong', 'path_dot'), one('odd', 'path_empty')] }),
    );
    const lines: string[] = [];
    const summary = await runFamilies(
      FAMILIES.filter(({ name }) => name === 'paths'),
      directory,
      (line) => lines.push(line),
      [{ id: 'paths/odd', reason: 'it is not empty' }],
    );
    expect(summary).toEqual({ passed: 1, failed: 1, disputed: 1 });
    expect(lines).toEqual([
      'failed: paths/wrong: expected path_dot, got path_dotdot',
      'disputed: paths/odd: it is not empty (expected path_empty, got path_dotdot)',
      'skipped: paths/overlaps.json is not there',
      'skipped: paths/conflicts.json is not there',
    ]);
  });
});
