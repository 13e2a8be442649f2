// A plan for people: what it costs, which nodes, what runs where, and what has no place and why. A plan of ten thousand
// pods still fits a screen: equal nodes share a line, pods are named by workload.
import type { Plan, PlannedNode, Snapshot } from '../../core/index.ts';
import { type Column, counted, fittingTable, type Paint, table, wrapText } from '../output/index.ts';
import { Fullness } from './fullness.ts';
import { perHour, price } from './money.ts';
import { renderUnschedulable } from './render-unschedulable.ts';
import { listWorkloads, WorkloadNames } from './workload-names.ts';

/** Lines of one section before the rest is summed up. */
const mostLines = 40;
/** Workloads named per line. */
const mostWorkloads = 6;

export interface RenderOptions {
  paint: Paint;
  /** Where running text is broken. */
  columns: number;
  /** Widest line that stays on one line of the terminal; no limit when piped. */
  widestLine?: number;
}

export function renderPlan(plan: Plan, snapshot: Snapshot, options: RenderOptions): string {
  const names = new WorkloadNames(snapshot);
  const { paint } = options;
  // A NodeClaim without a Node stands for a node under its own name.
  const nodes = new Set(
    snapshot.objects.items.flatMap(({ kind, metadata }) => (kind === 'Node' ? [metadata.name] : [])),
  );
  const placed = plan.existingNodes.filter(({ pods }) => pods.length > 0);
  const there = placed.filter(({ name }) => nodes.has(name));
  const coming = placed.filter(({ name }) => !nodes.has(name));
  const sections = [summary(plan, { there, coming }, paint)];
  if (plan.newNodes.length > 0) {
    sections.push(`${paint.bold('Nodes to launch')}\n${newNodes(plan, snapshot, names, options)}`);
    sections.push(`${paint.bold('Pods on them')}\n${podsOnNewNodes(plan, names, options)}`);
  }
  if (there.length > 0) sections.push(`${paint.bold('Pods on nodes that exist')}\n${podsOnExisting(there, names)}`);
  if (coming.length > 0) sections.push(`${paint.bold('Pods on nodes on their way')}\n${podsOnExisting(coming, names)}`);
  if (plan.unschedulable.length > 0) {
    const title = `No place for ${counted(plan.unschedulable.length, 'pod')}`;
    sections.push(`${paint.bold(paint.red(title))}\n${renderUnschedulable(plan.unschedulable, names, options)}`);
  }
  return sections.join('\n');
}

interface Placed {
  there: Plan['existingNodes'];
  coming: Plan['existingNodes'];
}

function summary(plan: Plan, placed: Placed, paint: Paint): string {
  const podsOn = (nodes: Plan['existingNodes']): number => nodes.reduce((sum, { pods }) => sum + pods.length, 0);
  const [onExisting, onComing] = [podsOn(placed.there), podsOn(placed.coming)];
  const onNew = plan.pods - onExisting - onComing - plan.unschedulable.length;
  const parts: string[] = [];
  if (onNew > 0) parts.push(`${shown(onNew)} on ${counted(plan.newNodes.length, 'new node')}`);
  if (onExisting > 0) parts.push(`${shown(onExisting)} on nodes that exist`);
  if (onComing > 0) parts.push(`${shown(onComing)} on nodes on their way`);
  if (plan.unschedulable.length > 0) parts.push(`${shown(plan.unschedulable.length)} without a place`);
  const lines = [`${counted(plan.pods, 'pod')} to place${parts.length === 0 ? '' : `: ${parts.join(', ')}`}.`];
  const withFees =
    plan.costPerHour === undefined ? '' : `, ${price(plan.costPerHour)} with what each node costs beside it`;
  if (plan.newNodes.length > 0) lines.push(`New nodes cost ${paint.bold(price(plan.pricePerHour))}${withFees}.`);
  if (plan.lowerBoundPerHour !== undefined) lines.push(boundLine(plan.pricePerHour, plan.lowerBoundPerHour));
  return `${lines.join('\n')}\n`;
}

function shown(count: number): string {
  return count.toLocaleString('en-US');
}

function boundLine(pricePerHour: number, bound: number): string {
  const above = bound > 0 ? ` (this plan is ${((pricePerHour / bound - 1) * 100).toFixed(1)} % above)` : '';
  return `No plan for these pods can cost less than $${perHour(bound)}/h${above}.`;
}

interface NodeGroup {
  nodes: PlannedNode[];
  /** What the line stands for: nodes whose pods are of the same workloads, or all of one type and place. */
  pods: string;
}

/** Nodes that read the same, in launch order; coarser when there would be too many lines. */
function groupNodes(nodes: readonly PlannedNode[], names: WorkloadNames): NodeGroup[] {
  const fine = groupBy(nodes, (node) => `${placeOf(node)} ${listWorkloads(names.count(node.pods), 1000)}`, names);
  return fine.length <= mostLines ? fine : groupBy(nodes, placeOf, names);
}

function groupBy(
  nodes: readonly PlannedNode[],
  keyOf: (node: PlannedNode) => string,
  names: WorkloadNames,
): NodeGroup[] {
  const groups = new Map<string, PlannedNode[]>();
  for (const node of nodes) {
    const key = keyOf(node);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [node]);
    else group.push(node);
  }
  return [...groups.values()].map((group) => ({
    nodes: group,
    pods: listWorkloads(names.count(group.flatMap(({ pods }) => pods)), mostWorkloads),
  }));
}

function placeOf({ nodePool, chosen }: PlannedNode): string {
  return `${nodePool} ${chosen.instanceType} ${chosen.zone} ${chosen.capacityType}`;
}

function newNodes(plan: Plan, snapshot: Snapshot, names: WorkloadNames, options: RenderOptions): string {
  const fullness = new Fullness(snapshot.instanceTypes ?? []);
  const groups = groupNodes(plan.newNodes, names);
  const rows = groups.slice(0, mostLines).map(({ nodes }) => {
    const [node] = nodes as [PlannedNode, ...PlannedNode[]];
    const { chosen } = node;
    const hourly = nodes.reduce((sum, one) => sum + one.chosen.pricePerHour, 0);
    return [
      nameOf(nodes),
      node.nodePool,
      chosen.instanceType,
      chosen.zone,
      chosen.capacityType,
      perHour(hourly),
      percent(nodes, (one) => fullness.of(one, 'cpu')),
      percent(nodes, (one) => fullness.of(one, 'memory')),
      String(nodes.reduce((sum, { pods }) => sum + pods.length, 0)),
      alternatives(nodes),
    ];
  });
  const columns: Column[] = [
    { title: 'node' },
    { title: 'pool' },
    { title: 'type' },
    { title: 'zone' },
    { title: 'capacity' },
    { title: '$/hour', align: 'right' },
    { title: 'cpu', align: 'right' },
    { title: 'memory', align: 'right' },
    { title: 'pods', align: 'right' },
    { title: 'other types' },
  ];
  const { paint, widestLine = Number.POSITIVE_INFINITY } = options;
  // -o json has them all.
  const expendable = ['other types', 'memory', 'cpu', 'pool', 'pods'];
  const text = fittingTable(columns, rows, { indent: '  ', heading: paint.dim, width: widestLine, expendable });
  return `${text}${left(groups.length)}`;
}

/** `default-1`, or `default-1 … (12)` for several. */
function nameOf(nodes: readonly PlannedNode[]): string {
  const first = nodes[0]?.name ?? '';
  return nodes.length === 1 ? first : `${first} … (${nodes.length})`;
}

/** Average over the nodes that know. */
function percent(nodes: readonly PlannedNode[], of: (node: PlannedNode) => number | undefined): string {
  const known = nodes.map(of).filter((value) => value !== undefined);
  if (known.length === 0) return '';
  return `${Math.round((100 * known.reduce((sum, value) => sum + value, 0)) / known.length)} %`;
}

/** The next cheapest types, which the cloud may use instead. */
function alternatives(nodes: readonly PlannedNode[]): string {
  const others = (nodes[0]?.instanceTypes ?? []).filter((type) => type !== nodes[0]?.chosen.instanceType);
  const [next] = others;
  if (next === undefined) return 'none';
  return others.length === 1 ? next : `${next} and ${others.length - 1} more`;
}

function podsOnNewNodes(plan: Plan, names: WorkloadNames, { columns }: RenderOptions): string {
  const groups = groupNodes(plan.newNodes, names).slice(0, mostLines);
  const width = Math.max(...groups.map(({ nodes }) => nameOf(nodes).length));
  return groups.map(({ nodes, pods }) => entry(nameOf(nodes).padEnd(width), pods, columns)).join('');
}

function podsOnExisting(nodes: Plan['existingNodes'], names: WorkloadNames): string {
  const rows = nodes
    .slice(0, mostLines)
    .map(({ name, pods }) => [name, listWorkloads(names.count(pods), mostWorkloads)]);
  return `${table([{ title: '' }, { title: '' }], rows, { indent: '  ' })}${left(nodes.length)}`;
}

function entry(name: string, text: string, columns: number): string {
  const indent = name.length + 4;
  const [first = '', ...rest] = wrapText(text, Math.max(30, columns - indent));
  return [`  ${name}  ${first}`, ...rest.map((line) => ' '.repeat(indent) + line)].map((line) => `${line}\n`).join('');
}

function left(lines: number): string {
  return lines > mostLines ? `  and ${lines - mostLines} more lines; -o json has them all\n` : '';
}
