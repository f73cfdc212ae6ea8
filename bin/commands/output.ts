import type { Writable } from 'node:stream';
import { type EngineError, ERRORS } from '../../src/engine/api.ts';
import { sanitizeLine, sanitizeText } from '../../src/tui/text/sanitize.ts';

/** Where a command's words go. Everything printed for people has been made inert; JSON is escaped so that it is inert too. */
export interface Output {
  readonly json: boolean;
  /** One line for people; not printed with --json. */
  line(text?: string): void;
  /** Several lines for people, such as a diff or a log; not printed with --json. */
  block(text: string): void;
  /** A remark that --quiet suppresses; goes to stderr, so that stdout stays what was asked for. */
  note(text: string): void;
  /** One of several failures that a command reports; on stderr, also with --quiet. */
  complain(error: EngineError): void;
  /** One JSON document or JSON line; only printed with --json. */
  document(value: unknown): void;
  /** Prints an expected failure and answers its exit code. */
  fail(error: EngineError): number;
}

export interface OutputOptions {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly json: boolean;
  readonly quiet: boolean;
}

export function createOutput({ stdout, stderr, json, quiet }: OutputOptions): Output {
  const forPeople = (text: string) => {
    if (!json) stdout.write(`${text}\n`);
  };
  return {
    json,
    line: (text = '') => forPeople(sanitizeLine(text)),
    block: (text) => forPeople(sanitizeText(text.replace(/\n$/, ''))),
    note: (text) => {
      if (!quiet) stderr.write(`${sanitizeLine(text)}\n`);
    },
    complain: (error) => {
      if (!json) stderr.write(`${errorLine(error)}\n`);
    },
    document: (value) => {
      if (json) stdout.write(`${inertJson(value)}\n`);
    },
    fail: (error) => {
      if (json) stdout.write(`${inertJson({ error })}\n`);
      else stderr.write(`${errorLine(error)}\n`);
      return ERRORS[error.code].exit;
    },
  };
}

/** `error: what; how to mend it`, on one line whatever the parts hold. */
function errorLine(error: EngineError): string {
  const remedy = error.remedy === '' ? '' : `; ${error.remedy}`;
  return sanitizeLine(`error: ${error.message}${remedy}`);
}

/**
 * JSON in which no character that a terminal obeys or that hides text stands as itself. JSON escapes the C0 controls
 * anyway; the others are written as `\uXXXX`, which means the same to every reader.
 */
export function inertJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
