import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStateDirectory } from '../../src/engine/store/state-directory.ts';

describe('the state directory', () => {
  let root: string;
  let gitCommonDir: string;

  beforeEach(() => {
    root = mkdtempSync(path.join(os.tmpdir(), 'rt-'));
    gitCommonDir = path.join(root, 'repo', '.git');
    mkdirSync(gitCommonDir, { recursive: true });
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const mode = (directory: string) => (statSync(directory).mode & 0o777).toString(8);

  it('lies in the common git directory and is private', () => {
    const opened = openStateDirectory({ gitCommonDir, storageDir: null });
    const dir = path.join(gitCommonDir, 'roundtable');
    expect(opened).toEqual({
      ok: true,
      value: {
        dir,
        db: path.join(dir, 'roundtable.db'),
        lockDb: path.join(dir, 'lock.db'),
        objects: path.join(dir, 'objects.git'),
        secrets: path.join(dir, 'secrets'),
        sessions: path.join(dir, 'sessions'),
        logs: path.join(dir, 'logs'),
        temp: path.join(dir, 'temp'),
      },
    });
    for (const name of ['.', 'secrets', 'sessions', 'logs', 'temp']) expect(mode(path.join(dir, name))).toBe('700');
    expect(existsSync(path.join(dir, 'objects.git'))).toBe(false);
  });

  it('narrows a mode that others could read by', () => {
    const dir = path.join(gitCommonDir, 'roundtable');
    mkdirSync(dir);
    chmodSync(dir, 0o755);
    expect(openStateDirectory({ gitCommonDir, storageDir: null }).ok).toBe(true);
    expect(mode(dir)).toBe('700');
  });

  it.each([
    ['/absolute', (base: string) => path.join(base, 'absolute')],
    ['relative', (base: string) => path.join(base, 'repo', 'relative')],
  ])('moves with storage.dir (%s)', (setting, expected) => {
    const storageDir = setting.startsWith('/') ? path.join(root, setting) : setting;
    const opened = openStateDirectory({ gitCommonDir, storageDir });
    expect(opened.ok && opened.value.dir).toBe(expected(root));
    expect(mode(expected(root))).toBe('700');
  });

  it('says what stands in the way', () => {
    writeFileSync(path.join(gitCommonDir, 'roundtable'), '');
    expect(openStateDirectory({ gitCommonDir, storageDir: null })).toMatchObject({
      ok: false,
      error: { code: 'state_directory_failed', message: /EEXIST|ENOTDIR/ },
    });
  });
});
