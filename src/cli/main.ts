// Entry point of the `kerf` command: parses the command line, loads the one command asked for, and turns what it says
// into an exit code. Errors are printed once, here, with their code.
import { CommanderError } from 'commander';
import pc from 'picocolors';
import { KerfError, messageOf } from '../base/index.ts';
import { type CommandRunner, exitCode, type Terminal } from './command.ts';
import { visible } from './output/visible.ts';
import { programFor } from './program.ts';

const terminal: Terminal = {
  stdin: process.stdin,
  out: (text) => void process.stdout.write(visible(text)),
  err: (text) => void process.stderr.write(visible(text)),
  control: (text, stream = 'out') => void (stream === 'out' ? process.stdout : process.stderr).write(text),
  isTerminal: process.stdout.isTTY === true,
  errIsTerminal: process.stderr.isTTY === true,
  get columns() {
    // Some pseudo-terminals have no size, and say zero.
    return process.stdout.columns || 80;
  },
  env: process.env,
};

const runner: CommandRunner =
  (action) =>
  async (...args) => {
    try {
      process.exitCode = await action(terminal, ...(args as never[]));
    } catch (thrown) {
      process.exitCode = exitCode.failure;
      const code = thrown instanceof KerfError ? ` (${thrown.code})` : '';
      terminal.err(`${pc.red('error')}: ${messageOf(thrown)}${code}\n`);
      if (process.env['KERF_DEBUG'] && thrown instanceof Error) terminal.err(`${thrown.stack}\n`);
    }
  };

async function main(argv: string[]): Promise<void> {
  try {
    const program = await programFor(argv, runner);
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    process.exitCode = thrown.exitCode === 0 ? exitCode.ok : exitCode.failure;
  }
}

// A reader that closes early (`kerf crds | head`) is not an error; a full disk is.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCode.ok);
    if (stream === process.stdout) terminal.err(`${pc.red('error')}: cannot write the output: ${error.message}\n`);
    process.exit(exitCode.failure);
  });
}
// Started by an older Node (bin/kerf): whoever kills that one means this process.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.channel?.unref();
void main(process.argv.slice(2));
