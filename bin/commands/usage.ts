import { CommanderError } from 'commander';
import { type EngineError, engineError } from '../../src/engine/api.ts';

/** Commander's complaint in our words, or null when it only ends a command that did what was asked (help). */
export function usageError(thrown: CommanderError, helpText: string): EngineError | null {
  if (thrown.exitCode === 0) return null;
  if (thrown.code === 'commander.help') {
    // A group without a subcommand: commander answers with its help; one line says the same.
    const name = /^Usage: (.*?) \[/m.exec(helpText)?.[1] ?? 'roundtable';
    return engineError('invalid_argument', `${name} needs a subcommand`, `see \`${name} --help\``);
  }
  const [what = '', ...rest] = thrown.message.replace(/^error: /, '').split('\n');
  const suggestion = /\(Did you mean (.*?)\?\)/.exec(rest.join(' '))?.[1];
  const remedy =
    suggestion === undefined ? (REMEDIES[thrown.code] ?? 'see `--help` of the command') : `did you mean ${suggestion}?`;
  return engineError('invalid_argument', what.replace(/\.$/, ''), remedy);
}

const REMEDIES: Readonly<Record<string, string>> = {
  'commander.excessArguments': 'put words that belong together in quotes, or see `--help` of the command',
};

/** For a value that a command can't take; becomes a usage error (exit 2). */
export function badArgument(message: string, remedy: string): EngineError {
  return engineError('invalid_argument', message, remedy);
}

/** Thrown by the parsers of option values; carries the whole error through commander. */
export class BadValue extends CommanderError {
  constructor(readonly error: EngineError) {
    super(2, 'roundtable.badValue', error.message);
  }
}
