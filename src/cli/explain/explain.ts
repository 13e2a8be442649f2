// `kerf explain KIND NAME`: whether a node would be removed or replaced, what that saves, or everything that keeps it and
// what to change, the first thing first; the same for all nodes of a pool; why a pod waits and what will become of it.
import { type Command, Option } from 'commander';
import { atOnce, KerfError, parseTime } from '../../base/index.ts';
import { nodeVerdicts, Round, type Snapshot } from '../../core/index.ts';
import { isTerminal } from '../../state/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { type Progress, paintFor, progressLine } from '../output/index.ts';
import { deviceSelectors, loadSnapshot, makePlan, type PlanFlags, serialize } from '../plan/plan.ts';
import { namesText } from './names.ts';
import { nodeOfPod, renderNodeOfPod } from './pod-node.ts';
import { findPod, podStory, renderPodStory } from './pod-story.ts';
import { renderPool, renderVerdict } from './render-verdict.ts';

interface ExplainFlags {
  filename?: string[];
  snapshot?: string;
  context?: string | true;
  kubeconfig?: string;
  output: 'text' | 'json' | 'yaml';
}

const subjects = ['pod', 'node', 'nodeclaim', 'nodepool'];

export function configure(command: Command, run: CommandRunner): void {
  command
    .description('Say why a pod waits, or why a node stays, and what would happen to it.')
    .argument('<kind>', `what to explain: ${subjects.join(', ')}`)
    .argument('<name>', "its name; a pod's may be namespace/name")
    .option('-f, --filename <path...>', 'manifests: files, folders, or - for standard input')
    .option('--snapshot <file>', 'look at a snapshot (see `kerf snapshot`)')
    .option('--context [name]', 'look at a live cluster: a context of the kubeconfig, the current one by default')
    .option('--kubeconfig <file>', 'kubeconfig to use with --context')
    .addOption(new Option('-o, --output <format>', 'format').choices(['text', 'json', 'yaml']).default('text'))
    .addHelpText('after', helpText)
    .action(run(explain));
}

const helpText = `
Exit codes:
  0  explained
  2  not explained: no such object, unreadable input, wrong flags, no cluster

Examples:
  kerf explain node ip-10-0-3-7.ec2.internal --context
  kerf explain pod shop/web-7d4b9 --context prod
  kerf explain nodepool default --snapshot cluster.json -o json`;

async function explain(terminal: Terminal, kind: string, name: string, flags: ExplainFlags): Promise<number> {
  const subject = kind.toLowerCase().replace(/s$/, '');
  if (!subjects.includes(subject)) {
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
    const explained = subject === 'pod' ? explainPod : explainNodes;
    const { data, text } = await explained(terminal, given, { subject, name }, progress);
    progress.clear();
    terminal.out(flags.output === 'text' ? text : await serialize(data, flags.output));
    return exitCode.ok;
  } finally {
    progress.clear();
  }
}

interface Explained {
  /** For -o json and -o yaml. */
  data: unknown;
  text: string;
}

interface Asked {
  subject: string;
  name: string;
}

async function explainPod(
  terminal: Terminal,
  flags: PlanFlags,
  { name }: Asked,
  progress: Progress,
): Promise<Explained> {
  const relaxed = new Map<string, readonly string[]>();
  const onRelaxed = (pod: string, changes: readonly string[]): void => void relaxed.set(pod, changes);
  const { plan, snapshot } = await makePlan(terminal, flags, flags.filename ?? [], progress, { onRelaxed });
  const pod = findPod(snapshot, name);
  const story = podStory(pod, plan, relaxed);
  const paint = paintFor(terminal);
  const text = renderPodStory(story, { paint, columns: terminal.columns });
  const { nodeName } = pod.spec ?? {};
  if (!nodeName || isTerminal(pod)) return { data: story, text };
  const node = nodeOfPod(await roundOver(snapshot), story.pod, nodeName);
  if (node === undefined) return { data: story, text };
  return { data: { ...story, ...node }, text: `${text}${renderNodeOfPod(node, paint)}` };
}

async function explainNodes(
  terminal: Terminal,
  flags: PlanFlags,
  { subject, name }: Asked,
  progress: Progress,
): Promise<Explained> {
  const snapshot = await loadSnapshot(terminal, flags, flags.filename ?? [], progress);
  const paint = paintFor(terminal);
  const round = await roundOver(snapshot);
  const { fleet } = round;
  const nowMs = parseTime(snapshot.time ?? '') ?? 0;
  if (subject === 'nodepool') {
    const verdicts = atOnce(nodeVerdicts(round, (member) => member.poolName === name));
    if (verdicts.length === 0 && fleet.pool(name) === undefined) {
      throw notFound(
        subject,
        name,
        [...fleet.allPools()].map(({ metadata }) => metadata.name),
      );
    }
    const parts = verdicts.map((verdict) => renderVerdict(verdict, nowMs, paint));
    return { data: verdicts, text: [renderPool(fleet, name, verdicts, paint), ...parts].join('\n') };
  }
  const namesOf = ({ name: own, machine }: (typeof fleet.members)[number]): string[] => [
    ...(subject === 'node' && machine.node !== undefined ? [own] : []),
    ...(machine.claim === undefined ? [] : [machine.claim.metadata.name]),
  ];
  const verdicts = atOnce(nodeVerdicts(round, (member) => namesOf(member).includes(name)));
  if (verdicts.length === 0) {
    throw notFound(
      subject,
      name,
      fleet.members.flatMap((member) => namesOf(member)[0] ?? []),
    );
  }
  return { data: verdicts, text: verdicts.map((verdict) => renderVerdict(verdict, nowMs, paint)).join('\n') };
}

async function roundOver(snapshot: Snapshot): Promise<Round> {
  return Round.of(snapshot, await deviceSelectors(snapshot));
}

function notFound(subject: string, name: string, names: readonly string[]): KerfError {
  return new KerfError('NotFound', `there is no ${subject} ${name} here; ${namesText(names)}`);
}
