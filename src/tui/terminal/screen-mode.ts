import { writeSync } from 'node:fs';
import type { TuiIo } from './io.ts';

/** Alternate screen, hidden cursor, no wrapping at the edge, pastes in brackets. */
const ENTER = '\u001b[?1049h\u001b[2J\u001b[?25l\u001b[?7l\u001b[?2004h';
const LEAVE = '\u001b[?2026l\u001b[?2004l\u001b[?7h\u001b[0m\u001b[?25h\u001b[?1049l';

/**
 * Takes the terminal and gives it back. `leave` works at any moment, also while the process dies: it writes
 * synchronously, may be called twice, and never throws, since the terminal may be gone.
 */
export interface ScreenMode {
  enter(): void;
  leave(): void;
}

export function screenMode(io: TuiIo): ScreenMode {
  let entered = false;
  return {
    enter() {
      if (entered) return;
      entered = true;
      io.stdin.setRawMode?.(true);
      io.stdout.write(ENTER);
    },
    leave() {
      if (!entered) return;
      entered = false;
      quietly(() => {
        if (io.stdout.fd === undefined) io.stdout.write(LEAVE);
        else writeAll(io.stdout.fd, LEAVE);
      });
      quietly(() => io.stdin.setRawMode?.(false));
    },
  };
}

/** A terminal that is slow answers EAGAIN; a bounded number of tries is better than a broken terminal. */
function writeAll(fd: number, text: string): void {
  let rest = Buffer.from(text);
  for (let tries = 0; rest.length > 0 && tries < 1_000; tries++) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
    }
  }
}

function quietly(step: () => void): void {
  try {
    step();
  } catch {
    // The terminal is gone (EIO after a hangup): there is nothing left to restore.
  }
}
