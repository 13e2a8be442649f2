// Runs one command in this process, with a terminal that remembers what was written to it.
import { Readable } from 'node:stream';
import { Command } from 'commander';
import type { CommandRunner, Terminal } from './command.ts';

export interface Ran {
  code: number;
  out: string;
  err: string;
}

export async function runCommand(
  configure: (command: Command, run: CommandRunner) => void,
  args: readonly string[],
  stdin: string | Buffer = '',
  surroundings: Partial<Terminal> = {},
): Promise<Ran> {
  const ran: Ran = { code: -1, out: '', err: '' };
  const terminal: Terminal = {
    stdin: Readable.from([stdin]),
    out: (text) => void (ran.out += text),
    err: (text) => void (ran.err += text),
    isTerminal: false,
    errIsTerminal: false,
    columns: 80,
    env: {},
    ...surroundings,
  };
  const command = new Command('test').exitOverride();
  configure(command, (action) => async (...given) => {
    ran.code = await action(terminal, ...(given as never[]));
  });
  await command.parseAsync([...args], { from: 'user' });
  return ran;
}
