// The cluster in figures: what the live table shows. Plain data, so that it can be tested without a terminal.
import { kwokNode, label } from '../../api/names.ts';
import { parseQuantity, parseTime, quantityIn } from '../../base/index.ts';
import type { Node, Pod } from '../../ports/index.ts';

export interface NodeRow {
  name: string;
  pool: string;
  type: string;
  zone: string;
  capacity: string;
  status: string;
  pods: number;
  /** Shares of what can be given out, 0 to 1. */
  cpu: number;
  memory: number;
  priceUsdPerHour: number;
  ageMs: number;
  /** What would become of it, or what keeps it; empty until that is known. */
  verdict: string;
}

export interface WorkloadRow {
  namespace: string;
  name: string;
  running: number;
  waiting: number;
  ending: number;
}

export interface Overview {
  nodes: NodeRow[];
  workloads: WorkloadRow[];
  readyNodes: number;
  running: number;
  waiting: number;
  priceUsdPerHour: number;
}

export function overview(
  nodes: Iterable<Node>,
  pods: Iterable<Pod>,
  nowMs: number,
  verdictOf: (node: string) => string = () => '',
): Overview {
  const onNode = new Map<string, { pods: number; cpu: number; memory: number }>();
  const workloads = new Map<string, WorkloadRow>();
  let running = 0;
  let waiting = 0;
  for (const pod of pods) {
    const phase = pod.status?.phase;
    if (phase === 'Succeeded' || phase === 'Failed') continue;
    const row = workloadRow(workloads, pod);
    if (pod.metadata.deletionTimestamp !== undefined) row.ending++;
    else if (phase === 'Running') row.running++;
    else row.waiting++;
    if (phase === 'Running') running++;
    else waiting++;
    const { nodeName } = pod.spec ?? {};
    if (!nodeName) continue;
    const used = onNode.get(nodeName) ?? { pods: 0, cpu: 0, memory: 0 };
    used.pods++;
    for (const { resources } of pod.spec?.containers ?? []) {
      used.cpu += amount('milli', resources?.requests?.['cpu']);
      used.memory += amount('units', resources?.requests?.['memory']);
    }
    onNode.set(nodeName, used);
  }
  const rows = [...nodes].map((node) => ({
    ...nodeRow(node, onNode.get(node.metadata.name ?? ''), nowMs),
    verdict: verdictOf(node.metadata.name ?? ''),
  }));
  rows.sort((left, right) => right.ageMs - left.ageMs || (left.name < right.name ? -1 : 1));
  return {
    nodes: rows,
    workloads: [...workloads.values()].sort((left, right) =>
      `${left.namespace}/${left.name}` < `${right.namespace}/${right.name}` ? -1 : 1,
    ),
    readyNodes: rows.filter(({ status }) => status === 'Ready').length,
    running,
    waiting,
    priceUsdPerHour: rows.reduce((sum, { priceUsdPerHour }) => sum + priceUsdPerHour, 0),
  };
}

function nodeRow(node: Node, used = { pods: 0, cpu: 0, memory: 0 }, nowMs: number): Omit<NodeRow, 'verdict'> {
  const { name = '', labels = {}, creationTimestamp = '' } = node.metadata;
  const { allocatable } = node.status ?? {};
  return {
    name,
    pool: labels[label.nodePool] ?? '-',
    type: labels[label.instanceType] ?? '-',
    zone: labels[label.zone] ?? '-',
    capacity: labels[label.capacityType] ?? '-',
    status: statusOf(node),
    pods: used.pods,
    cpu: used.cpu / (amount('milli', allocatable?.['cpu']) || 1),
    memory: used.memory / (amount('units', allocatable?.['memory']) || 1),
    priceUsdPerHour: Number(labels[kwokNode.priceLabel] ?? 0) || 0,
    ageMs: nowMs - (parseTime(creationTimestamp) ?? nowMs),
  };
}

function statusOf({ metadata, spec, status }: Node): string {
  if (metadata.deletionTimestamp !== undefined) return 'Leaving';
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
  if (!ready) return 'NotReady';
  if (spec?.taints?.some(({ key }) => key === 'karpenter.sh/disrupted')) return 'Disrupted';
  if (spec?.taints?.some(({ key }) => key === 'karpenter.sh/unregistered')) return 'Joining';
  return spec?.unschedulable === true ? 'Cordoned' : 'Ready';
}

/** Pods by what made them: the Deployment rather than its ReplicaSet. */
function workloadRow(workloads: Map<string, WorkloadRow>, pod: Pod): WorkloadRow {
  const { namespace = '', name = '', labels, ownerReferences } = pod.metadata;
  const owner = ownerReferences?.find(({ controller }) => controller === true);
  const hash = labels?.['pod-template-hash'];
  const maker = owner === undefined ? name : hash === undefined ? owner.name : owner.name.replace(`-${hash}`, '');
  const key = `${namespace}/${maker}`;
  let row = workloads.get(key);
  if (row === undefined) {
    row = { namespace, name: maker, running: 0, waiting: 0, ending: 0 };
    workloads.set(key, row);
  }
  return row;
}

const known = new Map<string, number>();

/** Quantities repeat, and a frame is drawn every second. */
function amount(unit: 'milli' | 'units', text: string | undefined): number {
  if (text === undefined) return 0;
  const key = `${unit}${text}`;
  let value = known.get(key);
  if (value === undefined) {
    value = quantityIn(unit, parseQuantity(text));
    if (known.size < 10_000) known.set(key, value);
  }
  return value;
}
