import { z } from 'zod';
import type { ObjectId } from '../../domain/ids.ts';
import type { TransactionRecord } from '../../domain/records.ts';

/**
 * The journal of one transaction: all that recovery needs, and nothing that changes while it runs. No absolute path is
 * in it, so that it stays true when the repository is moved. Bytes are SHA-256 of what stands in the work tree.
 */
const id = z.string().transform((text) => text as ObjectId);
const blob = z.object({ mode: z.string(), id: z.string() }).nullable();
const state = z.union([
  z.object({ kind: z.literal('absent') }),
  z.object({ kind: z.literal('file'), sha256: z.string(), executable: z.boolean() }),
]);
const journalPath = z.object({
  path: z.string(),
  base: blob,
  result: blob,
  before: state,
  after: state,
});
const files = z.object({
  /** Git directory of the work tree relative to the common one. */
  worktree: z.string(),
  trustExecutable: z.boolean(),
  /** Where staged files and backups are: in the state directory or, on another file system, at the work tree's root. */
  stageIn: z.enum(['state', 'worktree']),
  /** SHA-256 of the index files; null when there was none. */
  oldIndex: z.string().nullable(),
  newIndex: z.string(),
  paths: z.array(journalPath),
  /** Directories that did not exist, outermost first. */
  createdDirectories: z.array(z.string()),
  /** Directories that become files, deepest first, with their permission bits. */
  replacedDirectories: z.array(z.object({ path: z.string(), mode: z.number() })),
});
const journal = z.object({
  version: z.literal(1),
  oldCommit: id,
  oldTree: id,
  newTree: id,
  /** Null when the transaction makes no commit. */
  newCommit: id.nullable(),
  /** Null when the target is checked out nowhere. */
  files: files.nullable(),
});

export type Journal = z.output<typeof journal>;
export type JournalFiles = z.output<typeof files>;
export type JournalPath = z.output<typeof journalPath>;

export function writeJournal(value: Journal): string {
  return JSON.stringify(value);
}

/** Throws when the row is not one that this program wrote: nothing can be recovered from it, and nothing may be guessed. */
export function readJournal(record: Pick<TransactionRecord, 'id' | 'journal'>): Journal {
  try {
    return journal.parse(JSON.parse(record.journal));
  } catch (cause) {
    throw new Error(`the journal of ${record.id} can't be read`, { cause });
  }
}
