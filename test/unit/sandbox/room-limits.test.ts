import { describe, expect, it } from 'vitest';
import { DEFAULT_ROOM_LIMITS, ROOM_LIMITS, roomLimitProblems } from '../../../src/engine/domain/room-limits.ts';

describe('limits of a room', () => {
  it('has defaults within their own bounds', () => {
    expect(roomLimitProblems(DEFAULT_ROOM_LIMITS)).toEqual([]);
  });

  it.each([
    ['above the ceiling', { pids: 4097 }, 'sandbox.pids must be a whole number of processes from 32 to 4096, not 4097'],
    ['below the floor', { memoryMiB: 1 }, 'sandbox.memory_mib must be a whole number of MiB from 64 to 65536, not 1'],
    [
      'a broken number',
      { nofile: 1000.5 },
      'sandbox.nofile must be a whole number of files from 256 to 65536, not 1000.5',
    ],
    ['not a number', { cpus: Number.NaN }, 'sandbox.cpus must be a number of CPUs from 0.1 to 64, not NaN'],
  ])('names the key and the range of a number that is %s', (_, change, problem) => {
    expect(roomLimitProblems({ ...DEFAULT_ROOM_LIMITS, ...change })).toEqual([problem]);
  });

  it('takes the bounds themselves and half a CPU', () => {
    const { min, max } = ROOM_LIMITS.homeMiB;
    expect(roomLimitProblems({ ...DEFAULT_ROOM_LIMITS, homeMiB: min, cpus: 0.5 })).toEqual([]);
    expect(roomLimitProblems({ ...DEFAULT_ROOM_LIMITS, homeMiB: max })).toEqual([]);
  });
});
