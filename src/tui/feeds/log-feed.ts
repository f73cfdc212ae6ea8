import type { Engine, SessionRecord } from '../../engine/api.ts';
import type { LogState } from '../state/screen-state.ts';
import { LogBuffer } from './log-buffer.ts';

export interface LogFeed {
  /** Follows this session from near its end; null follows none. The same session again changes nothing. */
  follow(session: SessionRecord | null): void;
  close(): void;
}

const TICK_MS = 100;
const QUIET_MS = 500;
const QUIET_AFTER = 10;
/** What a reader gets of an old log to begin with, and per read. */
const BACKLOG_BYTES = 256 * 1024;
const CHUNK_BYTES = 64 * 1024;
const MAX_CHUNKS_PER_TICK = 8;
const MAX_LINES = 5_000;
const STREAMS = ['stdout', 'stderr'] as const;
type Stream = (typeof STREAMS)[number];

/** Reads the followed log on a timer, never per line, and hands on at most one new state per tick. */
export function logFeed(engine: Engine, onLog: (log: LogState | null) => void): LogFeed {
  let stop: (() => void) | null = null;
  let following: string | null = null;
  return {
    follow(session) {
      if ((session?.id ?? null) === following) return;
      stop?.();
      following = session?.id ?? null;
      stop = session === null ? null : followOne(engine, session, onLog);
      if (session === null) onLog(null);
    },
    close() {
      stop?.();
      stop = null;
    },
  };
}

function followOne(engine: Engine, session: SessionRecord, onLog: (log: LogState) => void): () => void {
  const buffer = new LogBuffer(MAX_LINES);
  const sizes: Record<Stream, number> = { stdout: session.stdoutBytes, stderr: session.stderrBytes };
  const next: Record<Stream, number> = {
    stdout: Math.max(0, sizes.stdout - BACKLOG_BYTES),
    stderr: Math.max(0, sizes.stderr - BACKLOG_BYTES),
  };
  /** Beginning in the middle, the first piece is half a line. */
  const skip: Record<Stream, boolean> = { stdout: next.stdout > 0, stderr: next.stderr > 0 };
  const ended: Record<Stream, boolean> = { stdout: false, stderr: false };
  let version = 0;
  let quiet = 0;
  let closed = false;
  let timer: NodeJS.Timeout | null = null;
  let problem: LogState['problem'] = null;

  async function read(stream: Stream): Promise<boolean> {
    let changed = false;
    for (let chunk = 0; chunk < MAX_CHUNKS_PER_TICK && !ended[stream] && !closed; chunk++) {
      const answer = await engine.query('sessionLog', {
        sessionId: session.id,
        stream,
        fromByte: next[stream],
        maxBytes: CHUNK_BYTES,
      });
      if (!answer.ok) {
        changed ||= problem?.code !== answer.error.code;
        problem = answer.error;
        return changed;
      }
      problem = null;
      let { text } = answer.value;
      const moved = answer.value.nextByte - next[stream];
      next[stream] = answer.value.nextByte;
      ended[stream] = answer.value.ended;
      if (skip[stream]) {
        const feed = text.indexOf('\n');
        if (feed >= 0) skip[stream] = false;
        text = feed < 0 ? '' : text.slice(feed + 1);
      }
      if (text !== '') buffer.append(stream, text);
      changed ||= text !== '' || ended[stream];
      if (moved < CHUNK_BYTES / 2) break;
    }
    return changed;
  }

  async function tick(): Promise<void> {
    let changed = version === 0;
    try {
      for (const stream of STREAMS) changed = (await read(stream)) || changed;
    } catch {
      // The engine is gone or busy; the snapshot feed says so, and the next tick tries again.
    }
    if (closed) return;
    quiet = changed ? 0 : quiet + 1;
    const over = ended.stdout && ended.stderr;
    if (changed) {
      version++;
      onLog({ sessionId: session.id, buffer, version, ended: over, problem });
    }
    if (!over) timer = setTimeout(() => void tick(), quiet > QUIET_AFTER ? QUIET_MS : TICK_MS);
  }

  void tick();
  return () => {
    closed = true;
    if (timer !== null) clearTimeout(timer);
  };
}
