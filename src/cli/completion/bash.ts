// The script for bash, from version 3.2 on (macOS has that one). Where a file is wanted nothing is offered, and the shell
// completes names of files itself.
import type { Described, DescribedFlag, FlagValue } from './described.ts';

export function bashScript(commands: readonly Described[]): string {
  const nested = commands.filter(({ path }) => path.length > 1).map(({ path }) => `"${path.join(' ')}"`);
  return `# Completion of kerf for bash: source <(kerf completion bash)
_kerf() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" at="" words="" flags=""
  # --flag=value is three words to bash.
  if [[ $cur == "=" ]]; then cur=""; elif [[ $prev == "=" ]]; then prev="\${COMP_WORDS[COMP_CWORD - 2]}"; fi
  if ((COMP_CWORD > 1)); then at="\${COMP_WORDS[1]}"; fi
  if ((COMP_CWORD > 2)); then
    case "$at \${COMP_WORDS[2]}" in
      ${nested.join(' | ')}) at="$at \${COMP_WORDS[2]}" ;;
    esac
  fi
  case "$at" in
${commands.map(caseOf).join('\n')}
  esac
  if [[ $cur == -* ]]; then words="$flags"; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _kerf kerf
`;
}

function caseOf({ path, words, flags }: Described): string {
  const all = flags.flatMap(({ names }) => names).join(' ');
  const values = valueCases(flags);
  const asked = values.length === 0 ? '' : `\n      case "$prev" in\n${values.join('\n')}\n      esac`;
  return `    "${path.join(' ')}")
      words="${words.map(({ word }) => word).join(' ')}" flags="${all}"${asked}
      ;;`;
}

/** What the value of the flag before may be; flags with the same answer share a line. */
function valueCases(flags: readonly DescribedFlag[]): string[] {
  const namesByWords = new Map<string, string[]>();
  for (const { names, value } of flags) {
    if (value.kind === 'none') continue;
    const words = wordsOf(value);
    namesByWords.set(words, [...(namesByWords.get(words) ?? []), ...names]);
  }
  return [...namesByWords].map(([words, names]) => `        ${names.join(' | ')}) words="${words}" ;;`);
}

function wordsOf(value: FlagValue): string {
  if (value.kind === 'choices') return value.choices.join(' ');
  return value.kind === 'context' ? '$(kubectl config get-contexts -o name 2>/dev/null)' : '';
}
