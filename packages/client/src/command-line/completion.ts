import type { Command } from 'commander';

/** Shells with a completion script. */
export const SHELLS = ['bash', 'zsh'] as const;

/** Returns a script that completes commands and options: `source <(svc completion bash)`. */
export function completionScript(program: Command, shell: (typeof SHELLS)[number]): string {
  const shared = optionsOf(program);
  const cases = program.commands.map(
    (command) => `    ${command.name()}) words="${[...optionsOf(command), ...shared].join(' ')}" ;;`,
  );
  const names = program.commands.map((command) => command.name()).join(' ');
  return `${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_svc() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words="${names}" ;;
  esac
  [ "$COMP_CWORD" = 1 ] && words="${names}"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _svc svc`;
}

function optionsOf(command: Command): string[] {
  return command.options.flatMap(({ long }) => (long === undefined || long === null ? [] : [long]));
}
