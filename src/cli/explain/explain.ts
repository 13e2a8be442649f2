// `kerf explain node|nodepool NAME`: whether a node would be removed or replaced, what that saves, or everything that
// keeps it and what to change, the first thing first.
import { type Command, Option } from 'commander';
import { atOnce, KerfError, parseTime } from '../../base/index.ts';
import { Fleet, type NodeVerdict, nodeVerdicts, Round, type Snapshot } from '../../core/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { type Paint, paintFor, progressLine } from '../output/index.ts';
import { price } from '../plan/money.ts';
import { loadSnapshot, type PlanFlags } from '../plan/plan.ts';

interface ExplainFlags {
  filename?: string[];
  snapshot?: string;
  context?: string | true;
  kubeconfig?: string;
  output: 'text' | 'json';
}

const subjects = ['node', 'nodeclaim', 'nodepool'];

export function configure(command: Command, run: CommandRunner): void {
  command
    .description('Say why a node stays, or what would happen to it.')
    .argument('<kind>', `what to explain: ${subjects.join(', ')}`)
    .argument('<name>', 'its name')
    .option('-f, --filename <path...>', 'manifests: files, folders, or - for standard input')
    .option('--snapshot <file>', 'look at a snapshot (see `kerf snapshot`)')
    .option('--context [name]', 'look at a live cluster: a context of the kubeconfig, the current one by default')
    .option('--kubeconfig <file>', 'kubeconfig to use with --context')
    .addOption(new Option('-o, --output <format>', 'format').choices(['text', 'json']).default('text'))
    .addHelpText('after', helpText)
    .action(run(explain));
}

const helpText = `
Examples:
  kerf explain node ip-10-0-3-7.ec2.internal --context
  kerf explain nodepool default --snapshot cluster.json -o json`;

async function explain(terminal: Terminal, kind: string, name: string, flags: ExplainFlags): Promise<number> {
  if (!subjects.includes(kind)) {
    throw new KerfError('FlagsInvalid', `cannot explain a ${kind}: ask about one of ${subjects.join(', ')}`);
  }
  const progress = progressLine(terminal);
  try {
    // Without any source, the cluster of the kubeconfig is meant.
    const hasSource = flags.snapshot !== undefined || flags.filename !== undefined || flags.context !== undefined;
    const given: PlanFlags = {
      ...flags,
      ...(hasSource ? {} : { context: true as const }),
      improve: true,
      output: 'json',
    };
    const snapshot = await loadSnapshot(terminal, given, flags.filename ?? [], progress);
    progress.clear();
    const verdicts = verdictsFor(snapshot, kind, name);
    if (verdicts.length === 0) {
      throw new KerfError('NotFound', `there is no ${kind} ${name} with nodes here: check the name, or look elsewhere`);
    }
    const nowMs = parseTime(snapshot.time ?? '') ?? 0;
    const paint = paintFor(terminal);
    terminal.out(
      flags.output === 'json'
        ? `${JSON.stringify(verdicts, null, 2)}\n`
        : verdicts.map((verdict) => renderVerdict(verdict, nowMs, paint)).join('\n'),
    );
    return exitCode.ok;
  } finally {
    progress.clear();
  }
}

function verdictsFor(snapshot: Snapshot, kind: string, name: string): NodeVerdict[] {
  const round = new Round(new Fleet(snapshot));
  return atOnce(
    nodeVerdicts(round, (member) => {
      if (kind === 'nodepool') return member.poolName === name;
      return (kind === 'node' && member.name === name) || member.machine.claim?.metadata.name === name;
    }),
  );
}

const dayMs = 86_400_000;

export function renderVerdict(verdict: NodeVerdict, nowMs: number, paint: Paint): string {
  const createdMs = parseTime(verdict.createdAt ?? '');
  const age = createdMs === undefined ? '' : `, ${((nowMs - createdMs) / dayMs).toFixed(1)} days old`;
  const daily = `$${(verdict.pricePerHour * 24).toFixed(2)} a day`;
  const lines = [
    `${paint.bold(verdict.node)}  ${verdict.nodePool ?? 'unmanaged'}  ${verdict.instanceType ?? ''}  ${daily}${age}`,
  ];
  if (verdict.verdict === 'keep') {
    lines.push('  stays:');
    for (const { code, message, suggestion } of verdict.blockers) {
      lines.push(`  - ${message} (${code})`);
      if (suggestion !== undefined) lines.push(`    ${paint.dim(suggestion)}`);
    }
  } else {
    const instead = (verdict.replacements ?? []).map((each) => `${each.instanceType} in ${each.zone}`).join(', ');
    const what = verdict.verdict === 'remove' ? 'would be removed' : `would be replaced by ${instead}`;
    lines.push(`  ${what} (${verdict.reason}), saving ${price(verdict.savingsPerHour)}`);
  }
  return `${lines.join('\n')}\n`;
}
