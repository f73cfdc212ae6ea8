import { normalizePath } from '../domain/path.ts';
import type { RevisionRefusal } from '../ports/private-repository.ts';
import { type RefusalReason, refusal } from './refusals.ts';

/** What `git apply` (LC_ALL=C) meant by its words on standard error. Only the reason depends on them, never the verdict. */
export function refusalFromApply(stderr: string): RevisionRefusal {
  const errors = stderr.split('\n').filter((line) => line.startsWith('error: '));
  const words = errors.map((line) => line.slice('error: '.length)).join('\n');
  const detail = plain(words.split('\n', 1)[0] ?? '');
  const invalid = /^invalid path '(.*)'$/m.exec(words)?.[1];
  if (invalid !== undefined) {
    const judged = normalizePath('file', invalid);
    return refusal(judged.ok ? 'path_invalid' : judged.error.reason, invalid, detail);
  }
  for (const [pattern, reason] of COMPLAINTS) if (pattern.test(words)) return refusal(reason, null, detail);
  return refusal('patch_rejected', null, detail);
}

/** True when git could not parse a hunk, as opposed to one that does not fit. */
export function saysCorruptHunk(stderr: string): boolean {
  return /^error: corrupt patch at line \d+$/m.test(stderr);
}

const COMPLAINTS: readonly (readonly [RegExp, RefusalReason])[] = [
  [
    /without full index line|which does not match the current contents|^cannot apply binary patch/m,
    'patch_binary_unusable',
  ],
  [/binary patch does not apply|postimage|binary patch to '.*' creates incorrect result/, 'patch_binary_unusable'],
  [
    /corrupt (?:binary )?patch|only garbage|bad git-diff|lacks filename information|unable to find filename/,
    'patch_corrupt',
  ],
  [/still has contents|unrecognized binary patch|fragment without header|invalid mode|inconsistent/, 'patch_corrupt'],
  [/^No valid patches in input/m, 'patch_no_diff'],
  [/already exists in index$/m, 'patch_file_exists'],
  [/appears as both a file and as a directory/, 'collision_file_dir'],
  [/is beyond a symbolic link$/m, 'path_beyond_symlink'],
  [/does not exist in index$/m, 'patch_file_missing'],
  [/does not match old mode|wrong type$/m, 'patch_type_mismatch'],
  [/patch does not apply|patch failed|leaves file contents/, 'patch_does_not_apply'],
];

function plain(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?').slice(0, 500);
}
