import { distance } from 'fastest-levenshtein';
import { type EngineError, type ErrorCode, engineError } from '../domain/errors.ts';

/** One thing wrong in a text that a person wrote. Lines and columns count from 1. */
export interface Problem {
  readonly line: number;
  readonly column: number;
  /** Dotted path of the offending key, `` for the document itself. */
  readonly key: string;
  readonly message: string;
  readonly remedy: string;
  readonly nearest?: string;
  /** Code of the error when it is not that of the file. */
  readonly code?: ErrorCode;
}

/** `file:line:column: what`, with the parts in `details` for programs. */
export function problemError(code: ErrorCode, file: string, problem: Problem): EngineError {
  const { line, column, key, nearest } = problem;
  const where = `${file}:${line}:${column}`;
  return engineError(problem.code ?? code, `${where}: ${problem.message}`, problem.remedy, {
    file,
    line,
    column,
    key,
    ...(nearest === undefined ? {} : { nearest }),
  });
}

/** The known name closest to a mistyped one, or null when none is close enough to be meant. */
export function nearestName(name: string, known: readonly string[]): string | null {
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    const steps = distance(name.toLowerCase(), candidate.toLowerCase());
    if (steps < bestDistance) [best, bestDistance] = [candidate, steps];
  }
  return best;
}

/** Dotted display of a path: `agents.implementers.count`, `tests.required[0][1]`. */
export function displayKey(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  );
}
