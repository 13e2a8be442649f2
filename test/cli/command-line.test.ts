// The command line itself, as a user meets it: names that do not exist, help that fits, the version, completion in a shell.
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { runKerf } from './run-kerf.ts';

test('the version is printed for the flag and for the command that users of kubectl type', async () => {
  const byFlag = await runKerf(['--version']);
  expect(byFlag).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), err: '' });
  expect(await runKerf(['version'])).toEqual(byFlag);
});

test.each([
  [['plna'], "unknown command 'plna'\n(Did you mean plan?)"],
  [['help', 'plna'], "unknown command 'plna'\n(Did you mean plan?)"],
  [['iam', 'polcy'], "unknown command 'polcy'\n(Did you mean policy?)"],
  [['iam', 'help', 'polcy'], "unknown command 'polcy'\n(Did you mean policy?)"],
  [['plan', '--snapshto', 'x'], "unknown option '--snapshto'\n(Did you mean --snapshot?)"],
])('%j names the nearest that exists, in a few lines', async (args, text) => {
  const { code, out, err } = await runKerf(args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(text);
  expect(err.split('\n').length).toBeLessThan(6);
});

describe('completion', () => {
  let script: string;

  beforeAll(async () => {
    const { code, out } = await runKerf(['completion', 'bash']);
    expect(code).toBe(0);
    script = join(mkdtempSync(join(tmpdir(), 'kerf-completion-')), 'kerf.bash');
    writeFileSync(script, out);
  });

  /** What bash offers for the last of these words. */
  const offered = async (...words: string[]): Promise<string[]> => {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const asked = `. "${script}"; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _kerf 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await promisify(execFile)('bash', ['-c', asked]);
    return stdout.trim().split('\n');
  };

  test('bash offers commands, flags, values and commands of commands', async () => {
    expect(await offered('kerf', 'pl')).toEqual(['plan']);
    expect((await offered('kerf', '')).toSorted()).toEqual(
      [...commands.map(({ name }) => name), 'help', 'version'].toSorted(),
    );
    expect(await offered('kerf', 'plan', '--cons')).toEqual(['--consolidate']);
    expect(await offered('kerf', 'plan', '-f', 'x.yaml', '--provider', '')).toEqual(['kwok', 'aws']);
    expect(await offered('kerf', 'plan', '--provider', '=', 'k')).toEqual(['kwok']);
    expect(await offered('kerf', 'iam', 'po')).toEqual(['policy']);
    expect(await offered('kerf', 'iam', 'policy', '--reg')).toEqual(['--region']);
    expect(await offered('kerf', 'explain', 'nodec')).toEqual(['nodeclaim']);
    expect(await offered('kerf', 'help', 'pre')).toEqual(['preflight']);
  });

  test('bash leaves files to the shell where a file is wanted', async () => {
    expect(await offered('kerf', 'plan', '-f', '')).toEqual(['']);
    expect(await offered('kerf', 'validate', '')).toEqual(['']);
  });

  test('the scripts are accepted by their shells, and name every command with its summary', async () => {
    await promisify(execFile)('bash', ['-n', script]);
    for (const shell of ['zsh', 'fish']) {
      const { code, out } = await runKerf(['completion', shell]);
      expect(code).toBe(0);
      for (const { name } of commands) expect(out).toContain(name);
      expect(out).toContain('save every object that planning depends on');
    }
  });

  test('another shell is refused, with the ones there are', async () => {
    const { code, err } = await runKerf(['completion', 'tcsh']);
    expect(code).toBe(2);
    expect(err).toContain('bash, zsh, fish');
  });
});
