// `kerf completion bash|zsh|fish`: a script for the shell, made from the commands themselves.
import { Argument, type Command } from 'commander';
import { type CommandRunner, exitCode } from '../command.ts';
import { bashScript } from './bash.ts';
import { describeProgram } from './described.ts';
import { fishScript } from './fish.ts';
import { zshScript } from './zsh.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
type Shell = keyof typeof scripts;

export function configure(command: Command, run: CommandRunner): void {
  command
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(scripts)))
    .addHelpText('after', helpText)
    .action(
      run(async ({ out }, shell: Shell) => {
        out(scripts[shell](describeProgram(command.parent ?? command)));
        return exitCode.ok;
      }),
    );
}

const helpText = `
Examples:
  source <(kerf completion bash)                                    this shell only; the line may stand in ~/.bashrc
  source <(kerf completion zsh)                                     after compinit; the line may stand in ~/.zshrc
  kerf completion zsh > "\${fpath[1]}/_kerf"                         for every zsh from now on
  kerf completion fish > ~/.config/fish/completions/kerf.fish`;
