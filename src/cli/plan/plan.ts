// `kerf plan`: what would happen to the pods of manifests, of a snapshot or of a live cluster, and what it would cost.
// Reads only; nothing is launched or changed anywhere.
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { KerfError, parseTime } from '../../base/index.ts';
import { type Plan, type PlanOptions, planSnapshot, type Snapshot, type SnapshotSettings } from '../../core/index.ts';
import { type CommandRunner, exitCode, type Terminal } from '../command.ts';
import { type Progress, paintFor, progressLine } from '../output/index.ts';
import { settingsNote } from '../snapshot/controller-facts.ts';
import { type CompletionOptions, completeSnapshot } from './complete.ts';
import { comparePlans } from './diff.ts';
import { type InputOptions, readInput } from './input.ts';
import { planJson } from './plan-json.ts';
import { type ProviderName, providerNames } from './provider.ts';
import { renderDiff } from './render-diff.ts';
import { renderPlan } from './render-plan.ts';

export interface PlanFlags {
  filename?: string[];
  snapshot?: string;
  context?: string | true;
  kubeconfig?: string;
  provider?: ProviderName;
  region?: string;
  zones?: string[];
  livePrices?: boolean;
  reservedEnis?: number;
  vmMemoryOverheadPercent?: number;
  instanceTypes?: string;
  preferencePolicy?: 'Respect' | 'Ignore';
  minValuesPolicy?: 'Strict' | 'BestEffort';
  featureGates?: string;
  bound?: boolean;
  improve: boolean;
  time?: string;
  diff?: string[];
  consolidate?: boolean;
  failOnUnschedulable?: boolean;
  nodeCost?: number;
  output: 'table' | 'json' | 'yaml';
}

export function configure(command: Command, run: CommandRunner): void {
  command
    .description(
      'Show what would be launched for the pods of manifests, a snapshot or a live cluster, and what it would cost.\nNothing is changed anywhere.',
    )
    .option('-f, --filename <path...>', 'manifests: files, folders, or - for standard input')
    .option('--snapshot <file>', 'start from a snapshot (see `kerf snapshot`), JSON or YAML, or - for standard input')
    .option(
      '--context [name]',
      'start from a live cluster: a context of the kubeconfig, the current one by default; assumed without -f and --snapshot',
    )
    .option('--kubeconfig <file>', 'kubeconfig to use with --context')
    .addOption(
      new Option('--provider <name>', 'whose instance types to use; by default the one the NodePools name').choices(
        providerNames,
      ),
    )
    .option('--region <name>', 'AWS region; by default the one the objects are in, else us-east-1')
    .option(
      '--zones <list>',
      'AWS zones with subnets, for node classes whose status names none; by default every zone that has machines',
      (text: string) => text.split(',').map((zone) => zone.trim()),
    )
    .option('--live-prices', 'ask AWS for its price list and spot prices (needs credentials), instead of built-in ones')
    .option(
      '--reserved-enis <count>',
      'network interfaces of AWS nodes that pods do not get, as the controller has it (0)',
      amount('a whole number like 1', Number.isInteger),
    )
    .option(
      '--vm-memory-overhead-percent <fraction>',
      'memory the hypervisor of AWS takes, as the controller has it (0.075)',
      amount('a fraction like 0.075', (part) => part < 1),
    )
    .option('--instance-types <file>', 'a catalogue: KWOK format, or instanceTypes as in a snapshot')
    .addOption(new Option('--preference-policy <policy>', 'what preferences count for').choices(['Respect', 'Ignore']))
    .addOption(new Option('--min-values-policy <policy>', 'what minValues count for').choices(['Strict', 'BestEffort']))
    .option(
      '--feature-gates <list>',
      "gates of the controller, like SpotToSpotConsolidation=true; by default the controller's own",
    )
    .option('--bound', 'also compute the price below which no plan can be')
    .option(
      '--node-cost <usd>',
      'penalty in USD/h per node when comparing plans (0.005)',
      amount('USD per hour like 0.02, or 0'),
    )
    .option('--no-improve', 'leave out the search for cheaper nodes after the first packing')
    .option('--time <time>', "clock of the decision (RFC 3339); by default the snapshot's, else the newest object's")
    .option('--diff <config...>', 'compare two configurations (files, folders or snapshots) on the same workload')
    .option('--consolidate', 'show instead which nodes could go or be replaced, what that saves, and why others stay')
    .option('--fail-on-unschedulable', 'exit with 1 if some pod has no place')
    .addOption(new Option('-o, --output <format>', 'format').choices(['table', 'json', 'yaml']).default('table'))
    .addHelpText('after', helpText)
    .action(run(runPlan));
}

const helpText = `
Exit codes:
  0  planned (also if some pods have no place, unless --fail-on-unschedulable)
  1  planned, some pod has no place, and --fail-on-unschedulable was given
  2  not planned: unreadable or malformed input, wrong flags, no cluster

Examples:
  kerf plan                                       what the cluster of the kubeconfig would get now
  kerf plan -f nodepool.yaml -f workload/
  kerf plan --snapshot cluster.json -o json
  kerf plan --context prod -f new-deployment.yaml
  kerf plan --context prod --consolidate
  kerf plan --diff pools-today.yaml pools-tomorrow.yaml -f workload/`;

/** Indenting a plan of thousands of nodes, each with hundreds of types, takes longer than making it. */
const mostNodesIndented = 100;

async function runPlan(outer: Terminal, flags: PlanFlags): Promise<number> {
  const terminal = await withStdinOnce(outer, flags);
  const progress = progressLine(terminal);
  try {
    if (flags.consolidate === true) return await consolidateOnce(terminal, flags, progress);
    return flags.diff === undefined
      ? await planOnce(terminal, flags, progress)
      : await planTwice(terminal, flags, flags.diff, progress);
  } finally {
    progress.clear();
  }
}

async function consolidateOnce(terminal: Terminal, flags: PlanFlags, progress: Progress): Promise<number> {
  const snapshot = await loadSnapshot(terminal, flags, flags.filename ?? [], progress);
  progress.show(() => 'looking for nodes that could go');
  const [{ planConsolidation }, { renderConsolidation }] = await Promise.all([
    import('./consolidate.ts'),
    import('./render-consolidation.ts'),
  ]);
  const plan = planConsolidation(snapshot, await deviceSelectors(snapshot));
  progress.clear();
  const text =
    flags.output === 'table'
      ? renderConsolidation(plan, { paint: paintFor(terminal), ...widestLineOf(terminal) })
      : await serialize(plan, flags.output);
  terminal.out(text);
  return exitCode.ok;
}

/** Standard input can be read by one flag alone; a comparison reads it for both of its plans. */
async function withStdinOnce(terminal: Terminal, flags: PlanFlags): Promise<Terminal> {
  const names = [...(flags.filename ?? []), ...(flags.diff ?? []), flags.snapshot, flags.instanceTypes];
  const uses = names.filter((name) => name === '-').length;
  if (uses > 1) {
    throw new KerfError('FlagsInvalid', 'standard input (-) can be read only once: write one of the inputs to a file');
  }
  if (uses === 0 || flags.diff === undefined) return terminal;
  const parts: Buffer[] = [];
  for await (const part of terminal.stdin) parts.push(Buffer.from(part));
  return Object.defineProperty({ ...terminal }, 'stdin', { get: () => Readable.from(parts) });
}

async function planOnce(terminal: Terminal, flags: PlanFlags, progress: Progress): Promise<number> {
  const { plan, snapshot } = await makePlan(terminal, flags, flags.filename ?? [], progress);
  progress.clear();
  if (flags.output === 'table') {
    const { columns } = terminal;
    terminal.out(renderPlan(plan, snapshot, { paint: paintFor(terminal), columns, ...widestLineOf(terminal) }));
  } else if (flags.output === 'json' && plan.newNodes.length > mostNodesIndented) {
    for (const piece of planJson(plan)) terminal.out(piece);
    terminal.out('\n');
  } else {
    terminal.out(await serialize(plan, flags.output));
  }
  return plan.unschedulable.length > 0 && flags.failOnUnschedulable === true ? exitCode.findings : exitCode.ok;
}

function widestLineOf({ columns, isTerminal }: Terminal): { widestLine?: number } {
  return isTerminal ? { widestLine: columns } : {};
}

async function planTwice(terminal: Terminal, flags: PlanFlags, configs: string[], progress: Progress): Promise<number> {
  const [first, second, ...more] = configs;
  if (first === undefined || second === undefined || more.length > 0) {
    throw new KerfError(
      'FlagsInvalid',
      `--diff takes two configurations, not ${configs.length}: kerf plan --diff A B -f workload/`,
    );
  }
  const once = withoutRepeats(terminal);
  const before = await makePlan(once, flags, [...(flags.filename ?? []), first], progress);
  const after = await makePlan(once, flags, [...(flags.filename ?? []), second], progress);
  progress.clear();
  const [nameBefore, nameAfter] = shortNames(first, second);
  const diff = comparePlans({ ...before, name: nameBefore }, { ...after, name: nameAfter });
  terminal.out(
    flags.output === 'table'
      ? renderDiff(diff, { paint: paintFor(terminal), ...widestLineOf(terminal) })
      : await serialize(diff, flags.output),
  );
  const unplaced = before.plan.unschedulable.length + after.plan.unschedulable.length;
  return unplaced > 0 && flags.failOnUnschedulable === true ? exitCode.findings : exitCode.ok;
}

/** What was assumed for both plans is said once. */
function withoutRepeats(terminal: Terminal): Terminal {
  const said = new Set<string>();
  const err = (text: string): void => {
    if (!said.has(text)) terminal.err(text);
    said.add(text);
  };
  return Object.assign(Object.create(terminal) as Terminal, { err });
}

/** File names alone where that tells the two apart. */
function shortNames(first: string, second: string): [string, string] {
  const short: [string, string] = [basename(first), basename(second)];
  return short[0] === short[1] ? [first, second] : short;
}

interface PlannedSnapshot {
  plan: Plan;
  snapshot: Snapshot;
}

/** Reads what flags ask for and plans it. */
export async function makePlan(
  terminal: Terminal,
  flags: PlanFlags,
  files: string[],
  progress: Progress,
  options: PlanOptions = {},
): Promise<PlannedSnapshot> {
  const snapshot = await loadSnapshot(terminal, flags, files, progress);
  progress.show(() => 'planning');
  const selectors = await deviceSelectors(snapshot);
  const planned = planSnapshot(snapshot, {
    ...options,
    improve: flags.improve,
    stopwatch: () => performance.now(),
    ...selectors,
  });
  const plan = planned.unschedulable.length > 0 ? await confirmed(planned, snapshot, selectors) : planned;
  return { plan: flags.bound === true ? await withBound(plan, snapshot, progress) : plan, snapshot };
}

async function confirmed(plan: Plan, snapshot: Snapshot, selectors: Parameters<typeof planSnapshot>[1]): Promise<Plan> {
  const { confirmSuggestions } = await import('./confirm/confirm-suggestions.ts');
  return confirmSuggestions(plan, snapshot, selectors ?? {});
}

/** CEL is loaded only where devices are planned. */
export async function deviceSelectors({ settings }: Snapshot): Promise<Pick<PlanOptions, 'compileDeviceSelector'>> {
  if (settings?.ignoreDRARequests !== false) return {};
  const { compileUntrustedSelector } = await import('../../controllers/index.ts');
  return { compileDeviceSelector: compileUntrustedSelector };
}

/** The snapshot that flags ask for, complete; what had to be assumed is reported. */
export async function loadSnapshot(
  terminal: Terminal,
  flags: PlanFlags,
  files: string[],
  progress: Progress,
): Promise<Snapshot> {
  const input = await readInput(inputOptions(terminal, flags, files, progress));
  const published = input.controller?.kind === 'found' ? input.controller.facts.settings : undefined;
  const provider = providerNames.find((name) => name === published?.provider);
  const { snapshot, notes } = await completeSnapshot(input.snapshot, {
    ...(provider === undefined ? {} : { provider }),
    ...(published?.reservedEnis === undefined ? {} : { reservedEnis: published.reservedEnis }),
    ...(published?.vmMemoryOverheadPercent === undefined
      ? {}
      : { vmMemoryOverhead: published.vmMemoryOverheadPercent }),
    ...(await completionOptions(terminal, flags, input.snapshot)),
    addedPools: input.addedPools,
  });
  progress.clear();
  const aboutSettings = input.controller === undefined ? [] : [settingsNote(input.controller, settingFlagsOf(flags))];
  for (const note of [...input.notes, ...notes, ...aboutSettings]) terminal.err(`note: ${note}\n`);
  return snapshot;
}

async function withBound(plan: Plan, snapshot: Snapshot, progress: Progress): Promise<Plan> {
  const { lowerBoundPerHour } = await import('./bound.ts');
  progress.show(() => 'computing the lower bound');
  const bound = await lowerBoundPerHour(snapshot, plan);
  const { newNodes, existingNodes, unschedulable, ...head } = plan;
  // Rounded down: a bound must not be above the truth.
  return { ...head, lowerBoundPerHour: Math.floor(bound * 1e9) / 1e9, newNodes, existingNodes, unschedulable };
}

function inputOptions(terminal: Terminal, flags: PlanFlags, files: string[], progress: Progress): InputOptions {
  const { kubeconfig } = flags;
  // Without any source, the cluster of the kubeconfig is meant.
  const hasSource = files.length > 0 || flags.snapshot !== undefined || flags.context !== undefined;
  const context = hasSource ? flags.context : true;
  if (flags.snapshot !== undefined && context !== undefined) {
    throw new KerfError(
      'FlagsInvalid',
      'cannot start from a snapshot and from a live cluster at once: give one of them',
    );
  }
  const options: InputOptions = { files, source: { stdin: terminal.stdin, progress } };
  if (flags.snapshot !== undefined) options.snapshotFile = flags.snapshot;
  if (context !== undefined) {
    options.readCluster = async () => {
      const { snapshotOfCluster } = await import('../snapshot/cluster.ts');
      const reading = snapshotOfCluster({
        env: terminal.env,
        progress,
        ...(context === true ? {} : { context }),
        ...(kubeconfig === undefined ? {} : { kubeconfig }),
      });
      return hasSource ? reading : reading.catch(withoutAnySource);
    };
  }
  return options;
}

/** Neither an input nor a cluster: that is what has to be given. */
function withoutAnySource(thrown: unknown): never {
  if (!(thrown instanceof KerfError) || thrown.code !== 'KubeconfigMissing') throw thrown;
  const why = `there is nothing to plan: give manifests (-f), a --snapshot or a --context; ${thrown.message}`;
  throw new KerfError('NothingToPlan', why, { cause: thrown });
}

async function completionOptions(terminal: Terminal, flags: PlanFlags, snapshot: Snapshot): Promise<CompletionOptions> {
  const settings: SnapshotSettings = {};
  if (flags.preferencePolicy !== undefined) settings.preferencePolicy = flags.preferencePolicy;
  if (flags.minValuesPolicy !== undefined) settings.minValuesPolicy = flags.minValuesPolicy;
  if (flags.nodeCost !== undefined) settings.nodeCostPerHour = flags.nodeCost;
  if (flags.featureGates !== undefined)
    settings.featureGates = { ...snapshot.settings?.featureGates, ...(await gatesIn(terminal, flags.featureGates)) };
  const options: CompletionOptions = { settings };
  if (flags.provider !== undefined) options.provider = flags.provider;
  if (flags.region !== undefined) options.region = flags.region;
  if (flags.zones !== undefined) options.zones = flags.zones;
  if (flags.livePrices === true) {
    const { readLivePrices } = await import('./live-prices.ts');
    options.livePrices = (region) => readLivePrices(terminal.env, region);
  }
  if (flags.reservedEnis !== undefined) options.reservedEnis = flags.reservedEnis;
  if (flags.vmMemoryOverheadPercent !== undefined) options.vmMemoryOverhead = flags.vmMemoryOverheadPercent;
  if (flags.time !== undefined) {
    if (parseTime(flags.time) === undefined) {
      throw new KerfError(
        'FlagsInvalid',
        `--time ${flags.time} is not a time: write it like 2026-11-16T04:00:00Z (RFC 3339)`,
      );
    }
    options.time = flags.time;
  }
  if (flags.instanceTypes !== undefined) {
    if (snapshot.instanceTypes !== undefined) {
      terminal.err(
        'note: the snapshot has instance types of its own; --instance-types is used only for NodePools added to it\n',
      );
    }
    const { readCatalogue } = await import('./catalogue-document.ts');
    options.catalogue = await readCatalogue(flags.instanceTypes, { stdin: terminal.stdin });
  }
  return options;
}

/** `A=true,B=false`, as the controller reads it. */
async function gatesIn(terminal: Terminal, text: string): Promise<Record<string, boolean>> {
  const { parseSettings } = await import('../../server/index.ts');
  const { settings, warnings } = parseSettings({ 'feature-gates': text }, {});
  const { featureGates } = settings;
  for (const warning of warnings) terminal.err(`note: ${warning}\n`);
  const given = new Set(text.split(',').map((each) => each.split('=')[0]?.trim()));
  return Object.fromEntries(Object.entries(featureGates).filter(([name]) => given.has(name)));
}

/** The flags given that stand for settings of the controller. */
function settingFlagsOf(flags: PlanFlags): string[] {
  const names = {
    featureGates: '--feature-gates',
    preferencePolicy: '--preference-policy',
    minValuesPolicy: '--min-values-policy',
  };
  return Object.entries(names).flatMap(([key, flag]) => (flags[key as keyof PlanFlags] === undefined ? [] : [flag]));
}

/** A number of a flag that is not negative; `isFit` may ask for more. */
function amount(example: string, isFit: (value: number) => boolean = Number.isFinite) {
  return (text: string): number => {
    const value = Number(text);
    if (text !== '' && value >= 0 && Number.isFinite(value) && isFit(value)) return value;
    throw new InvalidArgumentError(`write ${example}.`);
  };
}

export async function serialize(value: unknown, format: 'json' | 'yaml'): Promise<string> {
  if (format === 'json') return `${JSON.stringify(value, undefined, 2)}\n`;
  const { yamlText } = await import('../output/yaml.ts');
  return yamlText(value);
}
