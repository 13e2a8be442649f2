// `kerf crds`: prints the CustomResourceDefinitions, or writes them to a folder.
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Command, Option } from 'commander';
import { KerfError, messageOf } from '../../base/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { writeWhole } from '../output/index.ts';
import { type CrdFile, crdFiles, crdYaml } from './crd-files.ts';

interface Flags {
  out?: string;
  output: 'yaml' | 'json';
}

export function configure(command: Command, run: CommandRunner): void {
  command
    .description('Print the CustomResourceDefinitions that a cluster needs.')
    .argument('[names...]', 'kinds to print, by any of their names: NodePool, nodepools, ec2nc, nodepools.karpenter.sh')
    .option('--out <dir>', 'write one file per definition, named <group>_<plural>.yaml, instead of printing')
    .addOption(new Option('-o, --output <format>', 'format').choices(['yaml', 'json']).default('yaml'))
    .addHelpText(
      'after',
      `
Examples:
  kerf crds | kubectl apply --server-side -f -
  kerf crds nodepools nodeclaims
  kerf crds --out ./crds`,
    )
    .action(run(printCrds));
}

async function printCrds(terminal: Terminal, names: string[], flags: Flags): Promise<number> {
  const files = select(crdFiles(), names);
  if (flags.out !== undefined) {
    await writeFiles(terminal, flags.out, files, flags.output);
  } else if (flags.output === 'json') {
    terminal.out(json({ apiVersion: 'v1', kind: 'List', items: files.map(({ crd }) => crd) }));
  } else {
    terminal.out(files.map(({ crd }) => `---\n${crdYaml(crd)}`).join(''));
  }
  return exitCode.ok;
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

async function writeFiles(terminal: Terminal, folder: string, files: CrdFile[], format: Flags['output']) {
  try {
    await makeFolder(folder);
    for (const { name, crd } of files) {
      const path = join(folder, format === 'json' ? name.replace(/yaml$/, 'json') : name);
      await writeWhole(path, format === 'json' ? json(crd) : crdYaml(crd));
      terminal.out(`${path}\n`);
    }
  } catch (thrown) {
    throw new KerfError('OutputUnwritable', `cannot write to ${folder}: ${messageOf(thrown)}; give another --out`, {
      subject: folder,
      cause: thrown,
    });
  }
}

/** Step by step, because `recursive` never returns for a place like /proc, whose parent is there and which cannot be made. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT') throw thrown;
    await makeFolder(dirname(path));
    await mkdir(path);
  }
}

/** The definitions asked for by kind, plural, singular, short or full name in any case; all when none is asked for. */
function select(files: CrdFile[], wanted: string[]): CrdFile[] {
  if (wanted.length === 0) return files;
  const chosen = wanted.map((name) => {
    const found = files.find((file) => namesOf(file).includes(name.toLowerCase()));
    if (found !== undefined) return found;
    const known = files.map(({ crd }) => crd.spec.names.plural).join(', ');
    throw new KerfError('UnknownKind', `cannot print "${name}": no such definition; write one of ${known}`, {
      subject: name,
    });
  });
  return files.filter((file) => chosen.includes(file));
}

function namesOf({ crd }: CrdFile): string[] {
  const { kind, plural, singular, shortNames = [] } = crd.spec.names;
  return [kind, plural, singular, ...shortNames, crd.metadata.name].map((name) => name.toLowerCase());
}
