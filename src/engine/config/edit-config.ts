import { randomBytes } from 'node:crypto';
import { constants, type FileHandle, lstat, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { isMap, isScalar, parseDocument } from 'yaml';
import { type EngineError, engineError } from '../domain/errors.ts';
import { err, ok, type Result } from '../domain/result.ts';

/**
 * Sets `adapters.<name>.image` in a configuration file. Comments, order and everything else stay. The file is replaced
 * in one step, so a reader sees the old or the new one. Answers false when the project has no adapter of that name
 * (nothing is written). Errors: config_invalid, storage_failed.
 */
export async function setAdapterImage(
  file: string,
  adapter: string,
  image: string,
): Promise<Result<boolean, EngineError>> {
  try {
    const text = await readFile(file, 'utf8');
    const edited = withAdapterImage(text, adapter, image);
    if (!edited.ok || edited.value === null) return edited.ok ? ok(false) : edited;
    if (edited.value !== text) await replaceFile(file, edited.value);
    return ok(true);
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : String(cause);
    return err(
      engineError(
        'storage_failed',
        `${file} could not be changed: ${words}`,
        `set adapters.${adapter}.image: ${image} by hand`,
      ),
    );
  }
}

/** The edited text, or null when there is no such adapter. */
function withAdapterImage(text: string, adapter: string, image: string): Result<string | null, EngineError> {
  const document = parseDocument(text, { version: '1.2' });
  if (document.errors.length > 0) {
    const remedy = 'correct it first; `roundtable config check` shows where';
    return err(engineError('config_invalid', 'the configuration is not valid YAML', remedy));
  }
  const entry = ['adapters', adapter];
  if (!document.hasIn(entry)) return ok(null);
  const old = document.getIn([...entry, 'image'], true);
  if (isScalar(old) && old.range && old.range[1] > old.range[0]) {
    // Only the value's own characters change: spacing and comments stay as they were typed.
    return ok(text.slice(0, old.range[0]) + image + text.slice(old.range[1]));
  }
  if (!isMap(document.getIn(entry, true))) document.setIn(entry, document.createNode({}));
  document.setIn([...entry, 'image'], image);
  return ok(document.toString({ lineWidth: 0, flowCollectionPadding: false }));
}

async function replaceFile(file: string, text: string): Promise<void> {
  const mode = (await lstat(file)).mode & 0o777;
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${randomBytes(6).toString('hex')}`);
  let handle: FileHandle | null = null;
  try {
    handle = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
    await handle.writeFile(text);
    await handle.sync();
    await handle.close();
    handle = null;
    await rename(temporary, file);
  } catch (cause) {
    await handle?.close();
    await rm(temporary, { force: true });
    throw cause;
  }
}
