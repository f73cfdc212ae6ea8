/**
 * Puts a set of files into a directory, all or none. Trusts: that the directory is the operator's. Does not trust: that
 * nobody else creates files there meanwhile; nothing that exists is ever overwritten without a copy of it being kept
 * until the end.
 */
import path from 'node:path';

export interface FileToPlace {
  /** Relative to the root, `/`-separated. */
  readonly path: string;
  readonly text: string;
  /** What to do with a file that is there: `create` fails, `backup` keeps it under `backupPath`, `replace` drops it. */
  readonly how: 'create' | 'backup' | 'replace';
}

/** The calls that change something, so that a test can make each of them fail. Absolute paths. */
export interface PlacingFs {
  mkdtemp(prefix: string): Promise<string>;
  mkdir(directory: string): Promise<void>;
  rmdir(directory: string): Promise<void>;
  /** Creates a new file with these bytes, durably. */
  writeNew(file: string, text: string): Promise<void>;
  /** Fails when the target exists. */
  link(existing: string, created: string): Promise<void>;
  /** Replaces the target. */
  rename(from: string, to: string): Promise<void>;
  unlink(file: string): Promise<void>;
  removeTree(directory: string): Promise<void>;
  /** `device:inode`, and what it is; null when there is nothing. Links are not followed. */
  identify(file: string): Promise<{ readonly kind: 'file' | 'directory' | 'other'; readonly identity: string } | null>;
}

/** Something stands where a directory or a file of ours should be, or the system refused; everything was undone. */
export class PlacingError extends Error {
  override readonly name = 'PlacingError';
  constructor(
    message: string,
    readonly file: string,
    /** What could not be undone, in words; empty as a rule. */
    readonly leftovers: readonly string[],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Suffix of the copies that `backup` keeps is part of the caller's words, e.g. `.bak-20260102T030405Z`. */
export async function placeFiles(
  fs: PlacingFs,
  root: string,
  files: readonly FileToPlace[],
  backupSuffix: string,
): Promise<void> {
  const undo: { readonly what: string; readonly run: () => Promise<void> }[] = [];
  let current = '';
  let stage: string | null = null;
  try {
    stage = await fs.mkdtemp(path.join(root, '.roundtable-init-'));
    for (const [index, file] of files.entries()) {
      current = file.path;
      await fs.writeNew(path.join(stage, `new-${index}`), file.text);
    }
    for (const [index, file] of files.entries()) {
      current = file.path;
      await makeParents(fs, root, file.path, undo);
      const target = path.join(root, file.path);
      const staged = path.join(stage, `new-${index}`);
      if (file.how === 'create') await createOne(fs, staged, target, undo);
      else {
        const kept = file.how === 'backup' ? `${target}${backupSuffix}` : path.join(stage, `old-${index}`);
        await replaceOne(fs, staged, target, kept, undo);
      }
    }
  } catch (cause) {
    const leftovers: string[] = [];
    for (const step of undo.reverse()) {
      await step.run().catch((reason: unknown) => leftovers.push(`${step.what}: ${words(reason)}`));
    }
    await dropStage(fs, stage, leftovers);
    throw new PlacingError(words(cause), current, leftovers, { cause });
  }
  // Everything is in place; a stage that can't be removed is litter, not a failure.
  await dropStage(fs, stage, []);
}

type Undo = { readonly what: string; readonly run: () => Promise<void> }[];

async function makeParents(fs: PlacingFs, root: string, file: string, undo: Undo): Promise<void> {
  const parts = file.split('/').slice(0, -1);
  for (let depth = 1; depth <= parts.length; depth++) {
    const directory = path.join(root, ...parts.slice(0, depth));
    const found = await fs.identify(directory);
    if (found?.kind === 'directory') continue;
    if (found !== null) throw new Error(`${parts.slice(0, depth).join('/')} is not a directory`);
    await fs.mkdir(directory);
    undo.push({ what: `remove ${directory}`, run: () => fs.rmdir(directory) });
  }
}

async function createOne(fs: PlacingFs, staged: string, target: string, undo: Undo): Promise<void> {
  const ours = await fs.identify(staged);
  await fs.link(staged, target);
  undo.push({
    what: `remove ${target}`,
    run: async () => {
      // Somebody may have put a file of his own there since.
      if ((await fs.identify(target))?.identity === ours?.identity) await fs.unlink(target);
    },
  });
}

async function replaceOne(fs: PlacingFs, staged: string, target: string, kept: string, undo: Undo): Promise<void> {
  await fs.link(target, kept);
  undo.push({
    what: `restore ${target} from ${kept}`,
    run: async () => {
      const [there, old] = await Promise.all([fs.identify(target), fs.identify(kept)]);
      // Renaming one name of a file onto another name of it does nothing, so that case is an unlink.
      if (there?.identity === old?.identity) await fs.unlink(kept);
      else await fs.rename(kept, target);
    },
  });
  await fs.rename(staged, target);
}

async function dropStage(fs: PlacingFs, stage: string | null, leftovers: string[]): Promise<void> {
  if (stage === null) return;
  await fs.removeTree(stage).catch((reason: unknown) => leftovers.push(`remove ${stage}: ${words(reason)}`));
}

function words(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
