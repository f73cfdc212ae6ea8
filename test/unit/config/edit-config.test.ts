import { promises as fs } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setAdapterImage } from '../../../src/engine/config/edit-config.ts';

const IMAGE = `sha256:${'0a'.repeat(32)}`;
let directory: string;
let file: string;

beforeEach(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'rt-edit-'));
  file = path.join(directory, 'config.yaml');
});
afterEach(() => fs.rm(directory, { recursive: true, force: true }));

async function edit(text: string, adapter = 'gen') {
  await fs.writeFile(file, text, { mode: 0o640 });
  const result = await setAdapterImage(file, adapter, IMAGE);
  return { result, text: await fs.readFile(file, 'utf8') };
}

describe('setting the image of an adapter', () => {
  it.each([
    ['null', 'null'],
    ['another image', `name@sha256:${'ff'.repeat(32)}`],
    ['a quoted value', '"~"'],
  ])('changes nothing but the value when it was %s', async (_, old) => {
    const before = `# top\nversion:   1\nadapters:\n  gen:    # the one\n    image:  ${old}    # until built\n    kind: generic\n\n\nui:  {}\n`;
    const { result, text } = await edit(before);
    expect(result).toEqual({ ok: true, value: true });
    expect(text).toBe(before.replace(old, IMAGE));
  });

  it('adds the key where there is none, keeping comments', async () => {
    for (const before of [
      'adapters:\n  # c\n  gen: {kind: generic}\n',
      'adapters:\n  # c\n  gen:\n',
      'adapters:\n  # c\n  gen:\n    image:\n',
    ]) {
      const { text } = await edit(before);
      expect(text).toContain(`image: ${IMAGE}`);
      expect(text).toContain('# c');
    }
  });

  it('writes nothing for an adapter that is not there', async () => {
    const { result, text } = await edit('adapters: {other: {kind: generic}}\n');
    expect(result).toEqual({ ok: true, value: false });
    expect(text).toBe('adapters: {other: {kind: generic}}\n');
  });

  it('keeps the mode and leaves no temporary file', async () => {
    await edit('adapters:\n  gen: {image: null}\n');
    expect((await fs.stat(file)).mode & 0o777).toBe(0o640);
    expect(await fs.readdir(directory)).toEqual(['config.yaml']);
  });

  it('refuses a file that is not YAML', async () => {
    const { result, text } = await edit('adapters: [\n');
    expect(result).toMatchObject({ ok: false, error: { code: 'config_invalid' } });
    expect(text).toBe('adapters: [\n');
  });

  it('answers an error when the file is missing', async () => {
    expect(await setAdapterImage(file, 'gen', IMAGE)).toMatchObject({ ok: false, error: { code: 'storage_failed' } });
  });
});
