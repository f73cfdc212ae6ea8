import { PATH_REASONS, type PathReason } from '../domain/path.ts';
import type { RevisionRefusal } from '../ports/private-repository.ts';

/** Why a change is refused, apart from what the path function says. Message for people, remedy for the author. */
const REASONS = {
  patch_no_diff: ['the input holds no diff that git can read', 'send a unified diff as `git diff` prints it'],
  patch_corrupt: ['git can not read the patch', 'make the diff with `git diff` instead of writing it by hand'],
  patch_truncated: ['the last hunk has fewer lines than it announces', 'send the whole patch, with right hunk counts'],
  patch_ambiguous: [
    'the patch can be read in two ways, or holds lines beyond its hunk counts',
    'make the diff anew with at least one line of context and right hunk counts',
  ],
  patch_does_not_apply: ['a hunk does not fit the base', 'make the diff against the base commit'],
  patch_file_missing: ['the patch changes a file that the base does not have', 'make the diff against the base commit'],
  patch_file_exists: ['the patch creates a file that the base has', 'send an edit of the file instead of a new file'],
  patch_binary_unusable: [
    'a binary section can not be applied to the base',
    'make the diff with `git diff --binary --full-index`',
  ],
  patch_type_mismatch: ['the patch changes the type of an entry', 'delete the one and create the other'],
  patch_prefix_missing: ['a name in a header has no a/ or b/ in front', 'make the diff without `--no-prefix`'],
  patch_rejected: ['git refused the patch', 'make the diff anew with `git diff`'],
  path_beyond_symlink: ['a path leads through a symbolic link', 'change the file that the link points to'],
  path_invalid: ['git does not accept the path', 'choose another name'],
  mode_symlink: ['symbolic links can not be changed', 'leave the link as it is in the base; use a file instead'],
  mode_gitlink: ['submodule entries can not be changed', 'leave the submodule as it is in the base'],
  collision_case: ['the path differs from another one only in case', 'choose a name that differs in more than case'],
  collision_nfc: ['the path differs from another one only in normalisation', 'use the spelling that is there already'],
  collision_file_dir: ['a path is both a file and a directory', 'choose another name, or delete the file first'],
  file_too_large: ['a file is larger than limits.max_file_bytes', 'leave the file out or make it smaller'],
  too_many_files: ['more files are changed than limits.max_changed_files', 'split the change'],
  change_empty: ['the change alters nothing', 'nothing needs to be done'],
  workspace_unseeded: [
    'the path exists in the base but was not given to the session',
    'leave it alone, or ask for a wider scope',
  ],
  workspace_withheld: ['the path is on the list of sensitive files', 'leave sensitive files to the operator'],
  workspace_out_of_scope: [
    'the new path lies outside the scope of the task',
    'put it inside, or ask for a wider scope',
  ],
} as const satisfies Record<string, readonly [message: string, remedy: string]>;

export type RefusalReason = keyof typeof REASONS | PathReason;

/** Makes the refusal; `detail` (git's own words) is appended to the message. */
export function refusal(reason: RefusalReason, path: string | null, detail?: string): RevisionRefusal {
  const [message, remedy] = isPathReason(reason)
    ? [`the path is not acceptable (${reason})`, 'rename it, or leave it out']
    : REASONS[reason];
  return {
    code: 'revision_refused',
    reason,
    path,
    message: detail === undefined || detail === '' ? message : `${message}: ${detail}`,
    remedy,
  };
}

function isPathReason(reason: RefusalReason): reason is PathReason {
  return (PATH_REASONS as readonly string[]).includes(reason);
}
