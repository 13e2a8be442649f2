// What there is to complete: commands with what may follow them, as plain data for the writers of scripts.
import type { Command, Option } from 'commander';

export interface Described {
  /** Words from the program's name on: [] for the program, ['iam', 'policy'] for a command of a command. */
  path: string[];
  /** What may stand there: commands, or the choices of an argument. */
  words: DescribedWord[];
  /** Its arguments are files. */
  takesFiles: boolean;
  flags: DescribedFlag[];
}

export interface DescribedWord {
  word: string;
  meaning: string;
}

export interface DescribedFlag {
  /** With their dashes, the long one first. */
  names: string[];
  meaning: string;
  value: FlagValue;
}

export type FlagValue =
  | { kind: 'none' }
  | { kind: 'choices'; choices: readonly string[] }
  | { kind: 'file' }
  /** A context of the kubeconfig, which kubectl lists. */
  | { kind: 'context' }
  | { kind: 'text' };

/** The program first, then every command, then theirs. */
export function describeProgram(program: Command): Described[] {
  return describe(program, []);
}

function describe(command: Command, path: string[]): Described[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command);
  const [argument] = command.registeredArguments;
  const choices = (argument?.argChoices ?? []).map((word) => ({ word, meaning: argument?.description ?? '' }));
  // Of `help`, the names of its siblings.
  const siblings = command.name() === 'help' ? (command.parent?.commands ?? []).filter((each) => each !== command) : [];
  const asWords = (commands: readonly Command[]): DescribedWord[] =>
    commands.map((each) => ({ word: each.name(), meaning: help.subcommandDescription(each) }));
  return [
    {
      path,
      words: [...asWords(below), ...asWords(siblings), ...choices],
      takesFiles: command.registeredArguments.some((each) => isFile(each.name())),
      flags: help.visibleOptions(command).map(describeFlag),
    },
    ...below.flatMap((each) => describe(each, [...path, each.name()])),
  ];
}

function describeFlag(option: Option): DescribedFlag {
  const names = [option.long, option.short].flatMap((name) => name ?? []);
  return { names, meaning: option.description, value: valueOf(option) };
}

function valueOf({ required, optional, flags, long, argChoices }: Option): FlagValue {
  if (!required && !optional) return { kind: 'none' };
  if (argChoices !== undefined) return { kind: 'choices', choices: argChoices };
  if (long === '--context') return { kind: 'context' };
  const [, placeholder = ''] = /[<[]([^\]>]*)[\]>]/.exec(flags) ?? [];
  return isFile(placeholder) ? { kind: 'file' } : { kind: 'text' };
}

/** By the words that help uses for them. */
function isFile(placeholder: string): boolean {
  return /^(?:.*-)?(?:files?|path|dir|config)(?:\.\.\.)?$/.test(placeholder);
}
