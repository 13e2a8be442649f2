// `kerf explain KIND NAME`: whether a node would be removed or replaced, what that saves, or everything that keeps it and
// what to change, the first thing first; the same for all nodes of a pool; why a pod waits and what will become of it; where
// a claim is on its way, and why a pool or node class is not ready, with the failures of the catalogue behind it.
import { Argument, type Command, Option } from 'commander';
import { atOnce, KerfError, parseTime } from '../../base/index.ts';
import { clusterMoney, nodeVerdicts, Round, type Snapshot } from '../../core/index.ts';
import { isTerminal } from '../../state/index.ts';
import { claimStory, findPod, namesText, nodeOfPod, podStory } from '../../view/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { type Progress, paintFor, progressLine, wrapLines } from '../output/index.ts';
import { deviceSelectors, loadSnapshot, makePlan, type PlanFlags, serialize } from '../plan/plan.ts';
import type { NamedFailure } from './failures-about.ts';
import { renderNodeOfPod } from './pod-node.ts';
import { renderClaimStory } from './render-claim-story.ts';
import { renderPodStory } from './render-pod-story.ts';
import { renderPool, renderVerdict } from './render-verdict.ts';

interface ExplainFlags {
  filename?: string[];
  snapshot?: string;
  context?: string | true;
  kubeconfig?: string;
  featureGates?: string;
  namespace?: string;
  shadow?: string | true;
  output: 'text' | 'json' | 'yaml';
}

const subjects = ['pod', 'node', 'nodeclaim', 'nodepool', 'ec2nodeclass', 'cluster'] as const;
type Subject = (typeof subjects)[number];

/** As kubectl has them, and `cluster` for what has no name. */
const shortNames: Readonly<Record<string, Subject>> = {
  po: 'pod',
  no: 'node',
  nc: 'nodeclaim',
  np: 'nodepool',
  ec2nc: 'ec2nodeclass',
  nodeclass: 'ec2nodeclass',
};

/** Also plural, also in capitals, also with its group, as `kubectl get -o name` prints it. */
function subjectOf(kind: string): Subject {
  const word = kind.toLowerCase().replace(/(?:\.v\d\w*)?\.karpenter\.(?:k8s\.aws|sh)$/, '');
  const subject =
    shortNames[word] ?? subjects.find((each) => each === word || `${each}s` === word || `${each}es` === word);
  if (subject !== undefined) return subject;
  const short = Object.keys(shortNames).join(', ');
  throw new KerfError(
    'FlagsInvalid',
    `cannot explain a ${kind}: ask about one of ${subjects.join(', ')} (or ${short})`,
  );
}

/** Shells complete its choices; short names and plurals are taken too, so commander is not asked to check them. */
function kindArgument(): Argument {
  const argument = new Argument('<kind>', 'what to explain');
  argument.argChoices = [...subjects];
  return argument;
}

export function configure(command: Command, run: CommandRunner): void {
  command
    .description('Say why a pod waits, or why a node stays, and what would happen to it.')
    .addArgument(kindArgument())
    .argument('[name]', "its name; a pod's may be namespace/name; the cluster has none")
    .option('-n, --namespace <name>', 'namespace of the pod; by default it is looked for in all')
    .option('-f, --filename <path...>', 'manifests: files, folders, or - for standard input')
    .option('--snapshot <file>', 'look at a snapshot (see `kerf snapshot`)')
    .option(
      '--context [name]',
      'look at a live cluster: a context of the kubeconfig, the current one by default; assumed without -f and --snapshot',
    )
    .option('--kubeconfig <file>', 'kubeconfig to use with --context')
    .option(
      '--feature-gates <list>',
      "gates of the controller, like SpotToSpotConsolidation=true; by default the controller's own",
    )
    .option(
      '--shadow [address-or-file]',
      'add what a shadow would have done about it: the one of the cluster, a page /shadow, or a saved report',
    )
    .addOption(new Option('-o, --output <format>', 'format').choices(['text', 'json', 'yaml']).default('text'))
    .addHelpText('after', helpText)
    .action(run(explain));
}

const helpText = `
Exit codes:
  0  explained
  2  not explained: no such object, unreadable input, wrong flags, no cluster

Examples:
  kerf explain node ip-10-0-3-7.ec2.internal
  kerf explain po web-7d4b9 -n shop --context prod
  kerf explain ec2nodeclass/default
  kerf explain cluster
  kerf explain nodepool default --snapshot cluster.json -o json`;

async function explain(
  terminal: Terminal,
  kind: string,
  given: string | undefined,
  flags: ExplainFlags,
): Promise<number> {
  // `pod/web`, as kubectl takes it.
  const [kindOnly = '', ...rest] = given === undefined ? kind.split('/') : [kind];
  const subject = subjectOf(kindOnly);
  const name = given ?? (rest.length > 0 ? rest.join('/') : undefined);
  if (name === undefined && subject !== 'cluster')
    throw new KerfError('FlagsInvalid', `which ${subject}? give its name: kerf explain ${subject} NAME`);
  const progress = progressLine(terminal);
  try {
    const source: PlanFlags = { ...flags, improve: true, output: 'json' };
    const explained =
      subject === 'pod'
        ? explainPod
        : subject === 'cluster'
          ? explainCluster
          : subject === 'ec2nodeclass'
            ? explainClass
            : explainNodes;
    const asked = { subject, name: name ?? '', namespace: flags.namespace };
    const { data, text } = await explained(terminal, source, asked, progress);
    const shadow = flags.shadow === undefined ? undefined : await shadowAbout(terminal, flags, asked, data);
    progress.clear();
    const whole = shadow === undefined ? data : { explained: data, shadow: shadow.data };
    const all = `${text}${shadow?.text ?? ''}`;
    const shown = terminal.isTerminal ? wrapLines(all, terminal.columns) : all;
    terminal.out(flags.output === 'text' ? shown : await serialize(whole, flags.output));
    return exitCode.ok;
  } finally {
    progress.clear();
  }
}

/** What a shadow says about the same object, under every name that the explanation found for it. */
async function shadowAbout(
  terminal: Terminal,
  { shadow, kubeconfig, context }: ExplainFlags,
  { subject, name, namespace }: Asked,
  data: unknown,
): Promise<Explained> {
  const [{ readShadowReport, usualShadow }, { renderShadowSays, shadowSays }] = await Promise.all([
    import('../shadow/read-report.ts'),
    import('./shadow-says.ts'),
  ]);
  const report = await readShadowReport(terminal, {
    ...usualShadow,
    ...(typeof shadow === 'string' && { from: shadow }),
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(typeof context === 'string' && { context }),
  });
  const found = (Array.isArray(data) ? data[0] : data) as
    | { pod?: string; node?: string; nodeClaim?: string }
    | undefined;
  const names = [name, `${namespace ?? 'default'}/${name}`, found?.pod, found?.node, found?.nodeClaim];
  const says = shadowSays(report, { subject, names: names.flatMap((each) => each ?? []) });
  return { data: says, text: renderShadowSays(says, paintFor(terminal)) };
}

interface Explained {
  /** For -o json and -o yaml. */
  data: unknown;
  text: string;
}

interface Asked {
  subject: Subject;
  name: string;
  namespace?: string | undefined;
}

async function explainPod(
  terminal: Terminal,
  flags: PlanFlags,
  { name, namespace }: Asked,
  progress: Progress,
): Promise<Explained> {
  const relaxed = new Map<string, readonly string[]>();
  const onRelaxed = (pod: string, changes: readonly string[]): void => void relaxed.set(pod, changes);
  const { plan, snapshot } = await makePlan(terminal, flags, flags.filename ?? [], progress, { onRelaxed });
  const pod = findPod(snapshot, namespace === undefined || name.includes('/') ? name : `${namespace}/${name}`);
  const story = podStory(pod, { plan, snapshot, relaxed });
  const paint = paintFor(terminal);
  const { nodeName } = pod.spec ?? {};
  const failures = nodeName ? [] : await failuresOfPod(snapshot, story);
  if (failures.length > 0) Object.assign(story, { failures });
  const { renderFailures } = await import('./failures-about.ts');
  const style = { paint, columns: terminal.columns };
  const text = `${renderPodStory(story, style)}${renderFailures(failures, style)}`;
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
    // What is not launched yet has a story of its own, no price and no verdict.
    const coming = snapshot.objects.items.flatMap(({ kind, metadata }) => {
      const story = kind === 'NodeClaim' ? claimStory(snapshot, metadata.name) : undefined;
      return story?.nodePool === name ? [story] : [];
    });
    const there = verdicts.filter(({ node }) => !coming.some(({ nodeClaim }) => nodeClaim === node));
    const parts = [
      ...there.map((verdict) => renderVerdict(verdict, nowMs, paint)),
      ...coming.map((story) => renderClaimStory(story, { paint, columns: terminal.columns })),
    ];
    const { limitsLines } = await import('./cluster-story.ts');
    const heading = `${renderPool(fleet, name, { there, coming: coming.length }, paint)}${limitsLines(snapshot, name)}`;
    const { poolTrouble } = await import('./class-story.ts');
    const { text } = poolTrouble(snapshot, name, { paint, columns: terminal.columns });
    return { data: verdicts, text: [`${heading}${text}`, ...parts].join('\n') };
  }
  const waiting = subject === 'nodeclaim' ? claimStory(snapshot, name) : undefined;
  const way = subject === 'nodeclaim' ? await wayOf(snapshot, name, { paint, columns: terminal.columns }) : undefined;
  if (waiting !== undefined)
    return {
      data: [{ ...waiting, ...way?.data }],
      text: `${renderClaimStory(waiting, { paint, columns: terminal.columns })}${way?.text ?? ''}`,
    };
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
  const text = verdicts.map((verdict) => renderVerdict(verdict, nowMs, paint)).join('\n');
  if (way === undefined) return { data: verdicts, text };
  return { data: verdicts.map((verdict) => ({ ...verdict, ...way.data })), text: `${text}${way.text}` };
}

/** Where a claim is on its way, and what is wrong with it; undefined once it has arrived. */
async function wayOf(
  snapshot: Snapshot,
  name: string,
  style: { paint: ReturnType<typeof paintFor>; columns: number },
): Promise<{ data: object; text: string } | undefined> {
  const [{ claimJourney, renderJourney }, { failuresAbout, renderFailures }, { refsOfPool }] = await Promise.all([
    import('./claim-journey.ts'),
    import('./failures-about.ts'),
    import('./class-story.ts'),
  ]);
  const journey = claimJourney(snapshot, name);
  if (journey === undefined) return undefined;
  const claim = snapshot.objects.items.find(({ kind, metadata }) => kind === 'NodeClaim' && metadata.name === name);
  const labels = claim?.metadata['labels'] as Record<string, string> | undefined;
  const pool = labels?.['karpenter.sh/nodepool'];
  const own = failuresAbout(snapshot, [{ kind: 'NodeClaim', name }]);
  const failures = own.length > 0 || pool === undefined ? own : failuresAbout(snapshot, refsOfPool(snapshot, pool));
  const nowMs = parseTime(snapshot.time ?? '') ?? 0;
  return {
    data: { journey, failures },
    text: `${renderJourney(journey, nowMs, style.paint)}${renderFailures(failures, style)}`,
  };
}

/** Where pools are closed, what closed them; and what the pod's own conditions say. */
async function failuresOfPod(snapshot: Snapshot, story: ReturnType<typeof podStory>): Promise<NamedFailure[]> {
  const [{ failuresAbout }, { refsOfPool }] = await Promise.all([
    import('./failures-about.ts'),
    import('./class-story.ts'),
  ]);
  if (story.newNode !== undefined || (story.reasons ?? []).length === 0) return [];
  const name = story.pod.split('/').at(-1) ?? story.pod;
  const pools = snapshot.objects.items.filter(({ kind }) => kind === 'NodePool');
  return failuresAbout(
    snapshot,
    [{ kind: 'Pod', name }, ...pools.flatMap(({ metadata }) => refsOfPool(snapshot, metadata.name))],
    story.pod,
  );
}

async function explainClass(
  terminal: Terminal,
  flags: PlanFlags,
  { subject, name }: Asked,
  progress: Progress,
): Promise<Explained> {
  const snapshot = await loadSnapshot(terminal, flags, flags.filename ?? [], progress);
  const { classStory, nodeClassesIn, renderClassStory } = await import('./class-story.ts');
  const story = classStory(snapshot, name);
  if (story === undefined)
    throw notFound(
      subject,
      name,
      nodeClassesIn(snapshot).map(({ metadata }) => metadata.name),
    );
  const style = { paint: paintFor(terminal), columns: terminal.columns };
  return { data: story, text: renderClassStory(story, style) };
}

async function explainCluster(
  terminal: Terminal,
  flags: PlanFlags,
  _asked: Asked,
  progress: Progress,
): Promise<Explained> {
  const { plan, snapshot } = await makePlan(terminal, flags, flags.filename ?? [], progress);
  const { clusterStory, renderClusterStory } = await import('./cluster-story.ts');
  const round = await roundOver(snapshot);
  const verdicts = atOnce(nodeVerdicts(round));
  const story = clusterStory(snapshot, plan, verdicts, atOnce(clusterMoney(round, verdicts)));
  return {
    data: story,
    text: renderClusterStory(story, paintFor(terminal), terminal.isTerminal ? terminal.columns : undefined),
  };
}

async function roundOver(snapshot: Snapshot): Promise<Round> {
  return Round.of(snapshot, await deviceSelectors(snapshot));
}

function notFound(subject: string, name: string, names: readonly string[]): KerfError {
  return new KerfError('NotFound', `there is no ${subject} ${name} here; ${namesText(names)}`);
}
