// The script for zsh, to be sourced or kept as _kerf in a folder of $fpath.
import type { Described, DescribedFlag } from './described.ts';

export function zshScript(commands: readonly Described[]): string {
  const nested = commands.filter(({ path }) => path.length > 1).map(({ path }) => `"${path.join(' ')}"`);
  return `#compdef kerf
# Completion of kerf for zsh: source <(kerf completion zsh)
_kerf_contexts() {
  local -a names
  names=(\${(f)"$(kubectl config get-contexts -o name 2>/dev/null)"})
  compadd -a names
}
_kerf() {
  local at=""
  local -a known
  if (( CURRENT > 2 )); then
    at="$words[2]"
    shift words
    (( CURRENT-- ))
    if (( CURRENT > 2 )); then
      case "$at $words[2]" in
        (${nested.join('|')}) at="$at $words[2]"; shift words; (( CURRENT-- )) ;;
      esac
    fi
  fi
  case "$at" in
${commands.map(caseOf).join('\n')}
  esac
}
if [[ "$funcstack[1]" == "_kerf" ]]; then _kerf "$@"; else compdef _kerf kerf; fi
`;
}

function caseOf({ path, words, flags, takesFiles }: Described): string {
  const specs = flags.map(flagSpec);
  if (words.length > 0) specs.push(`'1: :{_describe -t words word known}'`);
  if (takesFiles) specs.push(`'*:file:_files'`);
  const known = words.map(({ word, meaning }) => `      ${quoted(`${word}:${meaning}`)}`).join('\n');
  return `    ("${path.join(' ')}")
      known=(${known === '' ? '' : `\n${known}\n      `})
      _arguments ${specs.join(' \\\n        ')}
      ;;`;
}

function flagSpec({ names, meaning, value }: DescribedFlag): string {
  const text = `[${meaning.replaceAll(/[[\]\\]/g, '\\$&')}]`;
  const tail = quoted(`${text}${valueSpec(value)}`);
  // The star: it may be given more than once.
  const heads = names.map((name) => String.raw`\*${name}`);
  return heads.length === 1 ? `${heads[0]}${tail}` : `{${heads.join(',')}}${tail}`;
}

function valueSpec(value: DescribedFlag['value']): string {
  if (value.kind === 'none') return '';
  if (value.kind === 'choices') return `:value:(${value.choices.join(' ')})`;
  if (value.kind === 'file') return ':file:_files';
  return value.kind === 'context' ? ':context:_kerf_contexts' : ':value: ';
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
