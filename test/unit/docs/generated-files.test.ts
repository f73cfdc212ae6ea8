import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { generatedFiles } from '../../../scripts/docs/generated-files.ts';
import { ERRORS } from '../../../src/engine/domain/errors.ts';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const files = generatedFiles();

describe('generated files', () => {
  it.each([...files.keys()])('%s matches the code', async (name) => {
    expect(await readFile(path.join(root, name), 'utf8')).toBe(files.get(name));
  });

  it('name every error', () => {
    for (const code of Object.keys(ERRORS)) expect(files.get('docs/errors.md')).toContain(`| \`${code}\` |`);
  });

  it('document range, unit, default and state of a key', () => {
    const page = files.get('docs/configuration.md') ?? '';
    expect(page).toContain('| `sandbox.memory_mib` | 64 to 65536 MiB | `2048` | Memory of a session');
    expect(page).toMatch(/\| `limits\.run_usd` \|.*Limited in this version/);
    expect(page).toContain('| `tests.prepare.argv` | list of texts | must be given |');
    // A key without a meaning would leave the last cell empty.
    expect(page.split('\n').filter((line) => /^\| `.*\|\s*\|$/.test(line))).toEqual([]);
  });
});
