// `kerf snapshot`: saves every object of a live cluster that planning depends on, for planning elsewhere, for bug reports
// and for replays. Reads only; Secrets are never asked for.
import { type Command, Option } from 'commander';
import { KerfError, messageOf } from '../../base/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { counted, progressLine, writeWhole } from '../output/index.ts';
import { snapshotOfCluster } from './cluster.ts';
import { redactSnapshot } from './redact.ts';

interface SnapshotFlags {
  context?: string | true;
  kubeconfig?: string;
  out?: string;
  redact?: boolean;
  output: 'json' | 'yaml';
}

export function configure(command: Command, run: CommandRunner): void {
  command
    .description('Save every object of a live cluster that planning depends on, as a snapshot. Secrets are never read.')
    .option('--context [name]', 'context of the kubeconfig; the current one by default')
    .option('--kubeconfig <file>', 'kubeconfig to use')
    .option('--out <file>', 'write to this file instead of standard output')
    .option('--redact', 'replace names and label values of your own, and leave out environment, commands and images')
    .addOption(new Option('-o, --output <format>', 'format').choices(['json', 'yaml']).default('json'))
    .addHelpText(
      'after',
      `
Examples:
  kerf snapshot --out cluster.json
  kerf snapshot --context prod --redact | gzip > report.json.gz
  kerf snapshot | kerf plan --snapshot - -f new-deployment.yaml`,
    )
    .action(run(takeSnapshot));
}

async function takeSnapshot(terminal: Terminal, flags: SnapshotFlags): Promise<number> {
  const { context, kubeconfig } = flags;
  const progress = progressLine(terminal);
  const { snapshot: live } = await snapshotOfCluster({
    env: terminal.env,
    progress,
    ...(typeof context === 'string' ? { context } : {}),
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
  });
  const snapshot = flags.redact === true ? redactSnapshot(live) : live;
  const text = await serialize(snapshot, flags.output);
  progress.clear();
  if (flags.out === undefined) {
    terminal.out(text);
    return exitCode.ok;
  }
  try {
    await writeWhole(flags.out, text);
  } catch (thrown) {
    throw new KerfError('OutputUnwritable', `cannot write ${flags.out}: ${messageOf(thrown)}; give another --out`, {
      subject: flags.out,
      cause: thrown,
    });
  }
  terminal.err(`${flags.out}: ${counted(snapshot.objects.items.length, 'object')}\n`);
  return exitCode.ok;
}

async function serialize(value: unknown, format: 'json' | 'yaml'): Promise<string> {
  if (format === 'json') return `${JSON.stringify(value)}\n`;
  const { yamlText } = await import('../output/yaml.ts');
  return yamlText(value);
}
