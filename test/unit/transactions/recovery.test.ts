import { describe, expect, it } from 'vitest';
import {
  ABSENT,
  decideRecovery,
  type Found,
  type PathState,
  restoreVerdict,
} from '../../../src/engine/domain/recovery.ts';

const found = (over: Partial<Found>): Found => ({
  status: 'applying',
  commits: true,
  ref: 'old',
  index: 'old',
  ...over,
});

describe('the recovery table', () => {
  it.each<readonly [string, Partial<Found>, string, string, string, string, boolean]>([
    ['prepared', { status: 'prepared' }, 'before_applying', 'aborted', 'none', 'drop', false],
    [
      'verified',
      { status: 'verified', ref: 'neither', index: 'other' },
      'before_applying',
      'aborted',
      'none',
      'drop',
      false,
    ],
    ['the commit is in the reference', { ref: 'new_reachable' }, 'landed', 'applied', 'none', 'finish', false],
    ['… whatever the index is', { ref: 'new_reachable', index: 'other' }, 'landed', 'applied', 'none', 'finish', false],
    ['the reference is where it was', {}, 'not_landed', 'aborted', 'restore', 'drop', false],
    ['the reference is elsewhere', { ref: 'neither' }, 'ref_elsewhere', 'aborted', 'restore_unlanded', 'drop', true],
    [
      'no commit wanted, index new',
      { commits: false, index: 'new' },
      'index_landed',
      'applied',
      'none',
      'finish',
      false,
    ],
    ['no commit wanted, index old', { commits: false }, 'not_landed', 'aborted', 'restore', 'drop', false],
    [
      '… although somebody committed',
      { commits: false, ref: 'neither' },
      'not_landed',
      'aborted',
      'restore',
      'drop',
      false,
    ],
    [
      'no commit wanted, index neither',
      { commits: false, index: 'other' },
      'index_unknown',
      'aborted',
      'list',
      'drop',
      true,
    ],
  ])('%s', (_, over, row, outcome, files, index, needsOperator) => {
    expect(decideRecovery(found(over))).toEqual({ row, outcome, files, index, needsOperator });
  });
});

describe('the verdict on one path', () => {
  const file = (sha256: string, executable = false): PathState => ({ kind: 'file', sha256, executable });
  it.each<readonly [string, PathState, PathState, PathState, boolean, string]>([
    ['our bytes stand there', file('old'), file('new'), file('new'), false, 'restore'],
    ['the old bytes stand there', file('old'), file('new'), file('old'), false, 'nothing'],
    ['somebody else wrote there', file('old'), file('new'), file('mine'), false, 'leave'],
    ['it was removed by somebody else', file('old'), file('new'), ABSENT, false, 'leave'],
    ['our added file stands there', ABSENT, file('new'), file('new'), false, 'restore'],
    ['our added file is not there yet', ABSENT, file('new'), ABSENT, false, 'nothing'],
    ['we deleted it', file('old'), ABSENT, ABSENT, false, 'restore'],
    ['somebody made it again', file('old'), ABSENT, file('mine'), false, 'leave'],
    ['only the mode differs', file('same'), file('same', true), file('same', true), false, 'restore'],
    ['a directory stands there', file('old'), file('new'), { kind: 'directory' }, false, 'leave'],
    ['our bytes are what HEAD has', file('old'), file('new'), file('new'), true, 'nothing'],
    ['HEAD has ours, the old bytes stand there', file('old'), file('new'), file('old'), true, 'nothing'],
  ])('%s', (_, before, after, at, landed, verdict) => {
    expect(restoreVerdict({ before, after, found: at, landed, trustExecutable: true })).toBe(verdict);
  });

  it('does not look at the executable bit where git does not trust it', () => {
    const path = { before: file('old'), after: file('new', true), found: file('new', false), landed: false };
    expect(restoreVerdict({ ...path, trustExecutable: false })).toBe('restore');
    expect(restoreVerdict({ ...path, trustExecutable: true })).toBe('leave');
  });
});
