// `kerf shadow report`: what a shadow (`kerf controller --shadow`) would have done, as a page or as data. The shadow writes
// nothing into the cluster, so its own process is asked: through the API server's proxy, at an address, or from a file.
import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { KerfError, messageOf } from '../../base/index.ts';
import type { ShadowReport } from '../../controllers/index.ts';
import { findAccess, KubeClient } from '../../kube/index.ts';
import { RealClock } from '../../runtime/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { version } from '../version.ts';
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
    .option('-n, --namespace <name>', 'namespace of the shadow', 'kube-system')
    .option('--service <name>', 'Service of the shadow', 'kerf-shadow')
    .option('--kubeconfig <file>', 'cluster to ask')
    .option('--context <name>', 'context of the kubeconfig')
    .addOption(new Option('-o, --output <format>', 'format').choices(['markdown', 'json']).default('markdown'))
    .addHelpText('after', examples)
    .action(run((terminal: Terminal, flags: Flags) => report(terminal, flags)));
}

async function report(terminal: Terminal, flags: Flags): Promise<number> {
  const found = flags.from === undefined ? await askCluster(terminal, flags) : await readFrom(flags.from);
  const { kind } = (found ?? {}) as { kind?: string };
  if (kind !== 'ShadowReport') {
    const where = flags.from ?? `service ${flags.service} in ${flags.namespace}`;
    throw new KerfError('ShadowReportInvalid', `${where} is not a report of a shadow (kind ${kind ?? 'missing'})`);
  }
  const asked = found as ShadowReport;
  terminal.out(flags.output === 'json' ? `${JSON.stringify(asked, undefined, 2)}\n` : shadowPage(asked));
  return exitCode.ok;
}

async function readFrom(from: string): Promise<unknown> {
  try {
    if (!/^https?:\/\//.test(from)) return JSON.parse(await readFile(from, 'utf8'));
    const answer = await fetch(from, { signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw new Error(`it answered ${answer.status}; is that process a shadow?`);
    return await answer.json();
  } catch (cause) {
    throw new KerfError('ShadowReportUnreadable', `cannot read the report from ${from}: ${messageOf(cause)}`, {
      cause,
    });
  }
}

async function askCluster({ env }: Terminal, { kubeconfig, context, namespace, service }: Flags): Promise<unknown> {
  const clock = new RealClock();
  const access = await findAccess({
    clock,
    env,
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  const client = new KubeClient({ access, clock, userAgent: `kerf/${version}`, rateLimit: { qps: 5, burst: 5 } });
  try {
    return await client.throughService({ name: service, namespace }, 'http-metrics', '/shadow');
  } catch (cause) {
    throw new KerfError(
      'ShadowUnreachable',
      `cannot ask the shadow behind service ${namespace}/${service}: ${messageOf(cause)}; name it with --namespace and --service, or its page with --from`,
      { cause },
    );
  } finally {
    await client.close();
  }
}
