// Help of every command: whole sentences, and lines that fit.
import { expect, test } from 'vitest';
import { commands } from './commands.ts';
import { programFor } from './program.ts';

test.each(commands.map(({ name }) => name))('the flags of %s fit a terminal of 80 columns', async (name) => {
  const program = await programFor([name], () => async () => undefined);
  const command = program.commands.find((each) => each.name() === name);
  const help = command?.helpInformation() ?? '';
  // A word that is too long by itself stays whole.
  const tooLong = help.split('\n').filter((line) => line.length > 80 && line.trim().includes(' '));
  expect(tooLong).toEqual([]);
  expect(help).toMatch(/^Usage: .*\n\n[A-Z]/);
  expect(help).toContain('--help');
});
