import type { Command } from 'commander';
import { implement, type Program } from './invocation.ts';
import { parseChoice } from './values.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function addCompletion(parent: Command, program: Program): void {
  const command = parent
    .command('completion')
    .description('a completion script for a shell')
    .argument('<shell>', SHELLS.join(', '), parseChoice('shell', SHELLS));
  implement(
    program,
    command,
    'roundtable completion bash > ~/.local/share/bash-completion/completions/roundtable',
    async ({ out, operands }) => {
      const shell = SHELLS.find((known) => known === operands[0]) ?? 'bash';
      const script = completionScript(shell, parent);
      out.document({ shell, script });
      out.block(script);
      return 0;
    },
  );
}

/** Words that may follow each command path (`""`, `"task"`, `"task add"`), taken from the commands themselves. */
export function completionWords(root: Command): ReadonlyMap<string, readonly string[]> {
  const words = new Map<string, readonly string[]>();
  const global = optionNames(root);
  const visit = (command: Command, path: string) => {
    const children = command.commands.filter((child) => child.name() !== 'help');
    words.set(path, [
      ...children.map((child) => child.name()),
      ...(command === root ? [] : optionNames(command)),
      ...global,
      '--help',
    ]);
    for (const child of children) visit(child, path === '' ? child.name() : `${path} ${child.name()}`);
  };
  visit(root, '');
  return words;
}

function optionNames(command: Command): readonly string[] {
  return command.options.flatMap((option) => (option.long ? [option.long] : []));
}

function completionScript(shell: (typeof SHELLS)[number], root: Command): string {
  const words = completionWords(root);
  switch (shell) {
    case 'bash':
      return bashScript(words);
    case 'zsh':
      // zsh reads bash's completion functions.
      return `#compdef roundtable\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(words)}`;
    case 'fish':
      return fishScript(words);
  }
}

function bashScript(words: ReadonlyMap<string, readonly string[]>): string {
  const cases = [...words].map(([path, list]) => `    '${path}') words='${list.join(' ')}' ;;`);
  const known = [...words.keys()].filter((path) => path !== '').map((path) => `'${path}'`);
  return `_roundtable() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' word next words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    case "$next" in
      ${known.join('|')}) path="$next" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=( $(compgen -W "$words" -- "$current") )
}
complete -o default -F _roundtable roundtable`;
}

function fishScript(words: ReadonlyMap<string, readonly string[]>): string {
  // Options of every command are said once; fish offers them everywhere.
  const everywhere = new Set(words.get('')?.filter((word) => word.startsWith('--')));
  const lines = [...words].flatMap(([path, list]) => {
    const parts = path.split(' ').filter((part) => part !== '');
    const condition =
      parts.length === 0
        ? '__fish_use_subcommand'
        : parts.map((part) => `__fish_seen_subcommand_from ${part}`).join('; and ');
    const names = list.filter((word) => !word.startsWith('-'));
    const own = list.filter((word) => word.startsWith('--') && !everywhere.has(word));
    return [
      ...(names.length === 0 ? [] : [`complete -c roundtable -f -n '${condition}' -a '${names.join(' ')}'`]),
      ...own.map((word) => `complete -c roundtable -n '${condition}' -l ${word.slice(2)}`),
    ];
  });
  return [...lines, ...[...everywhere].map((word) => `complete -c roundtable -l ${word.slice(2)}`)].join('\n');
}
