// The script for fish: one line per word and flag, each with the words that must have been typed before it.
import type { Described, DescribedFlag } from './described.ts';

export function fishScript(commands: readonly Described[]): string {
  const lines = commands.flatMap((command) => {
    const when = whenTyped(command, commands);
    const words = command.words.map(
      ({ word, meaning }) => `complete -c kerf -n ${quoted(when.words)} -f -a ${word} -d ${quoted(meaning)}`,
    );
    const flags = command.flags.map(
      (flag) => `complete -c kerf -n ${quoted(when.flags)} ${flagWords(flag)} -d ${quoted(flag.meaning)}`,
    );
    const files = command.takesFiles ? [`complete -c kerf -n ${quoted(when.flags)} -F`] : [];
    return [...words, ...flags, ...files];
  });
  return `# Completion of kerf for fish: kerf completion fish > ~/.config/fish/completions/kerf.fish
complete -c kerf -f
${lines.join('\n')}
`;
}

function whenTyped({ path, words }: Described, commands: readonly Described[]): { words: string; flags: string } {
  if (path.length === 0) return { words: '__fish_use_subcommand', flags: '__fish_use_subcommand' };
  const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
  const below = commands.filter((each) => each.path.length > path.length && isUnder(each.path, path));
  const names = [...below.map((each) => each.path.at(-1) ?? ''), ...words.map(({ word }) => word)];
  const further = names.length === 0 ? '' : `; and not __fish_seen_subcommand_from ${[...new Set(names)].join(' ')}`;
  return { words: `${seen}${further}`, flags: below.length > 0 ? `${seen}${further}` : seen };
}

const isUnder = (path: readonly string[], parent: readonly string[]): boolean =>
  parent.every((word, index) => path[index] === word);

function flagWords({ names, value }: DescribedFlag): string {
  const named = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(' ');
  if (value.kind === 'none') return named;
  if (value.kind === 'file') return `${named} -r -F`;
  if (value.kind === 'choices') return `${named} -x -a ${quoted(value.choices.join(' '))}`;
  if (value.kind === 'context') return `${named} -x -a '(kubectl config get-contexts -o name 2>/dev/null)'`;
  return `${named} -x`;
}

const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
