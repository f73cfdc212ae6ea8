import { BadValue, badArgument } from './usage.ts';

/** Parsers of option values. Each throws a usage error that says what would be accepted. */

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
const LONGEST_MS = 30 * 24 * 3_600_000;

/** `90s`, `30m`, `2h` → milliseconds. */
export function parseDuration(text: string): number {
  const [, digits, unit] = /^(\d{1,9})([smh])$/.exec(text) ?? [];
  const ms = Number(digits) * (UNITS[unit ?? ''] ?? Number.NaN);
  if (Number.isFinite(ms) && ms > 0 && ms <= LONGEST_MS) return ms;
  throw new BadValue(
    badArgument(`${JSON.stringify(text)} is no length of time`, 'write 90s, 30m or 2h; at most 30 days'),
  );
}

export function parseWhole(what: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new BadValue(
      badArgument(`${what} can not be ${JSON.stringify(text)}`, `use a whole number from ${min} to ${max}`),
    );
  };
}

export function parseChoice<T extends string>(what: string, choices: readonly T[]): (text: string) => T {
  return (text) => {
    const choice = choices.find((known) => known.toLowerCase() === text.toLowerCase());
    if (choice !== undefined) return choice;
    throw new BadValue(badArgument(`${what} ${JSON.stringify(text)} is not known`, `use one of ${choices.join(', ')}`));
  };
}

/** A command as a JSON list, so that no quoting rules are needed: `["npm","test"]`. */
export function parseArgv(text: string, previous: readonly (readonly string[])[] = []): readonly (readonly string[])[] {
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {
    // Not JSON at all is answered like JSON of another shape.
  }
  if (Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string' && word !== '')) {
    return [...previous, value as string[]];
  }
  throw new BadValue(badArgument(`${JSON.stringify(text)} is no list of arguments`, `write '["npm","test"]'`));
}

/** For options that may be given several times. */
export function collect(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, text];
}
