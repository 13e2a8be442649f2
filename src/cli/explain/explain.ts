// `kerf explain node|nodepool NAME`: whether a node would be removed or replaced, what that saves, or everything that
// keeps it and what to change, the first thing first. `kerf explain pod NAME`: why it waits and what will become of it.
import { type Command, Option } from 'commander';
import { atOnce, KerfError, parseTime } from '../../base/index.ts';
import { insteadText, type NodeVerdict, nodeVerdicts, Round, type Snapshot, verdictCode } from '../../core/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { counted, type Paint, type Progress, paintFor, progressLine } from '../output/index.ts';
import { price } from '../plan/money.ts';
import { loadSnapshot, makePlan, type PlanFlags } from '../plan/plan.ts';
import { findPod, podStory, renderPodStory } from './pod-story.ts';

interface ExplainFlags {
  filename?: string[];
  snapshot?: string;
  context?: string | true;
  kubeconfig?: string;
  output: 'text' | 'json';
}

const subjects = ['pod', 'node', 'nodeclaim', 'nodepool'];

export function configure(command: Command, run: CommandRunner): void {
  command
    .description('Say why a pod waits, or why a node stays, and what would happen to it.')
    .argument('<kind>', `what to explain: ${subjects.join(', ')}`)
    .argument('<name>', 'its name; of a pod also namespace/name')
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
  kerf explain pod shop/web-7d4f --context
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
      output: flags.output === 'json' ? 'json' : 'table',
    };
    if (kind === 'pod') {
      terminal.out(await podText(terminal, given, name, progress));
      return exitCode.ok;
    }
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
        : [
            ...(kind === 'nodepool' ? [renderPool(name, verdicts, paint)] : []),
            ...verdicts.map((verdict) => renderVerdict(verdict, nowMs, paint)),
          ].join('\n'),
    );
    return exitCode.ok;
  } finally {
    progress.clear();
  }
}

async function podText(terminal: Terminal, flags: PlanFlags, name: string, progress: Progress): Promise<string> {
  const relaxed = new Map<string, readonly string[]>();
  const onRelaxed = (pod: string, changes: readonly string[]): void => void relaxed.set(pod, changes);
  const { plan, snapshot } = await makePlan(terminal, flags, flags.filename ?? [], progress, { onRelaxed });
  progress.clear();
  const story = podStory(findPod(snapshot, name), plan, relaxed);
  if (flags.output === 'json') return `${JSON.stringify(story, null, 2)}\n`;
  return renderPodStory(story, { paint: paintFor(terminal), columns: terminal.columns });
}

function verdictsFor(snapshot: Snapshot, kind: string, name: string): NodeVerdict[] {
  const round = Round.of(snapshot);
  return atOnce(
    nodeVerdicts(round, (member) => {
      if (kind === 'nodepool') return member.poolName === name;
      return (kind === 'node' && member.name === name) || member.machine.claim?.metadata.name === name;
    }),
  );
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** What a pool's nodes come to, before each of them. */
export function renderPool(name: string, verdicts: readonly NodeVerdict[], paint: Paint): string {
  const total = verdicts.reduce((sum, verdict) => sum + verdict.pricePerHour, 0);
  const going = verdicts.filter((verdict) => verdict.verdict !== 'keep');
  const saving = going.reduce((sum, verdict) => sum + verdict.savingsPerHour, 0);
  const keeping = new Map<string, number>();
  for (const verdict of verdicts) {
    if (verdict.verdict === 'keep') keeping.set(verdictCode(verdict), (keeping.get(verdictCode(verdict)) ?? 0) + 1);
  }
  const reasons = [...keeping].sort((left, right) => right[1] - left[1]).map(([code, count]) => `${count} ${code}`);
  const lines = [`${paint.bold(`NodePool ${name}`)}  ${counted(verdicts.length, 'node')}, ${price(total)}`];
  if (going.length > 0) lines.push(`  ${going.length} would go by themselves, saving up to ${price(saving)}`);
  if (reasons.length > 0) lines.push(`  ${verdicts.length - going.length} stay: ${reasons.join(', ')}`);
  return `${lines.join('\n')}\n`;
}

export function renderVerdict(verdict: NodeVerdict, nowMs: number, paint: Paint): string {
  const age = verdict.ageSeconds === undefined ? '' : `, ${spanText(verdict.ageSeconds * 1000)} old`;
  const daily = `$${verdict.costPerDay.toFixed(2)} a day`;
  const lines = [
    `${paint.bold(verdict.node)}  ${verdict.nodePool ?? 'unmanaged'}  ${verdict.instanceType ?? ''}  ${daily}${age}`,
  ];
  const sinceMs = parseTime(verdict.since ?? '');
  const since = sinceMs === undefined ? '' : ` for ${spanText(nowMs - sinceMs)} now`;
  if (verdict.verdict === 'keep') {
    lines.push(`  stays${since}; to let it go, in this order:`);
    for (const [index, { code, message, suggestion, pods }] of verdict.blockers.entries()) {
      lines.push(`  ${index + 1}. ${message} (${code})`);
      if (pods !== undefined) lines.push(`     ${counted(pods.length, 'pod')}: ${shortList(pods)}`);
      if (suggestion !== undefined) lines.push(`     ${paint.dim(suggestion)}`);
    }
  } else {
    const what = verdict.verdict === 'remove' ? 'would be removed' : `would be replaced by ${insteadText(verdict)}`;
    lines.push(`  ${what} (${verdict.reason})${since}, saving ${price(verdict.savingsPerHour)}`);
    if (verdict.destinations !== undefined) lines.push(`  its pods go to ${shortList(verdict.destinations)}`);
  }
  return `${lines.join('\n')}\n`;
}

function spanText(ms: number): string {
  if (ms >= 2 * dayMs) return `${(ms / dayMs).toFixed(1)} days`;
  if (ms >= 2 * hourMs) return `${(ms / hourMs).toFixed(1)} hours`;
  return counted(Math.max(0, Math.round(ms / 60_000)), 'minute');
}

function shortList(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(', ');
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown;
}
