// The program that `kerf` is: its commands, of which only the one asked for is loaded, its help and its version.
import { Command } from 'commander';
import { type CommandRunner, exitCode } from './command.ts';
import { commands } from './commands.ts';
import { helpLayout } from './help.ts';
import { version } from './version.ts';

/** Completion describes every command, so it needs them all. */
const needsAll = 'completion';

export async function programFor(argv: readonly string[], runner: CommandRunner): Promise<Command> {
  const program = new Command('kerf')
    .description('A node autoscaler for Kubernetes on AWS that plans before it acts and explains what it did.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .configureHelp(helpLayout)
    .showHelpAfterError('(add --help for the flags and examples)')
    .exitOverride();
  const words = argv.filter((arg) => !arg.startsWith('-'));
  const asked = words[0] === 'help' ? words[1] : words[0];
  for (const definition of commands) {
    const { name, summary } = definition;
    const command = program.command(name).summary(summary).description(sentence(summary));
    if (name === asked || asked === needsAll) (await definition.load()).configure(command, runner);
    else command.allowUnknownOption().allowExcessArguments();
  }
  program
    .command('version')
    .description('print the version')
    .action(
      runner(async ({ out }) => {
        out(`${version}\n`);
        return exitCode.ok;
      }),
    );
  for (const parent of [program, ...program.commands]) if (parent.commands.length > 0) addHelpCommand(parent);
  return program;
}

const sentence = (summary: string): string => `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;

/** commander's own shows all of the help for a name that it does not know. */
function addHelpCommand(parent: Command): void {
  parent.helpCommand(false);
  parent
    .command('help')
    .argument('[command]')
    .description('show help for a command')
    .action((name: string | undefined) => {
      const found = parent.commands.find((each) => each.name() === name);
      if (name === undefined) parent.help();
      // Parsed as a command, a name that does not exist is answered with the nearest one.
      else if (found === undefined) parent.parse([name], { from: 'user' });
      else found.help();
    });
}
