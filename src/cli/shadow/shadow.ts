// `kerf shadow report`: what a shadow (`kerf controller --shadow`) would have done, as a page or as data. The shadow writes
// nothing into the cluster, so its own process is asked: through the API server's proxy, at an address, or from a file.
import { type Command, Option } from 'commander';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { readShadowReport, usualShadow } from './read-report.ts';
import { shadowPage } from './render-report.ts';

interface Flags {
  from?: string;
  namespace: string;
  service: string;
  kubeconfig?: string;
  context?: string;
  output: 'markdown' | 'json';
}

const examples = `
Examples:
  $ kerf shadow report > report.md
  $ kerf shadow report --namespace karpenter --service kerf-shadow
  $ kerf shadow report --from http://127.0.0.1:8080/shadow -o json > monday.json
  $ kerf shadow report --from monday.json`;

export function configure(command: Command, run: CommandRunner): void {
  command
    .description('Sum up what a shadow would have done: launches, removals, dollars, beside what was done.')
    .command('report')
    .description('print the report of a running shadow, or of one that was saved with -o json')
    .option(
      '--from <address-or-file>',
      'the page /shadow of the shadow, or a saved report, instead of asking the cluster',
    )
    .option('-n, --namespace <name>', 'namespace of the shadow', usualShadow.namespace)
    .option('--service <name>', 'Service of the shadow', usualShadow.service)
    .option('--kubeconfig <file>', 'cluster to ask')
    .option('--context <name>', 'context of the kubeconfig')
    .addOption(new Option('-o, --output <format>', 'format').choices(['markdown', 'json']).default('markdown'))
    .addHelpText('after', examples)
    .action(run((terminal: Terminal, flags: Flags) => report(terminal, flags)));
}

async function report(terminal: Terminal, flags: Flags): Promise<number> {
  const asked = await readShadowReport(terminal, flags);
  terminal.out(flags.output === 'json' ? `${JSON.stringify(asked, undefined, 2)}\n` : shadowPage(asked));
  return exitCode.ok;
}
