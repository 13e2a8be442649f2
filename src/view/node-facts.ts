// One machine as a screen shows it: what it is, what its pods ask for, what would become of it.
import { label, type NodeClaim } from '../api/index.ts';
import { parseTime } from '../base/index.ts';
import { isInitialized, type NodeVerdict, verdictCode } from '../core/index.ts';
import type { Node, Pod } from '../ports/index.ts';
import { isLeaving, isOwnedByDaemonSet, isTerminal, type Machine, type PodAmounts } from '../state/index.ts';
import type { NodeFacts } from './view-model.ts';
import type { Cell } from './wire.ts';
import { workloadOf } from './workload-of.ts';

const bytesPerMiB = 1024 * 1024;

export interface NodeParts {
  machine: Machine;
  pods: Iterable<Pod>;
  verdict: NodeVerdict | undefined;
  /** Where no verdict says one. */
  pricePerHour: number;
}

export function nodeFacts(
  { machine, pods, verdict, pricePerHour }: NodeParts,
  amounts: PodAmounts,
): { facts: NodeFacts; cells: Cell[] } {
  const { node, claim } = machine;
  const labels = { ...claim?.metadata.labels, ...node?.metadata.labels };
  const room = amounts.amountsOf(node?.status?.allocatable ?? claim?.status?.allocatable);
  const cells = new Map<string, Cell>();
  const used = { cpu: 0, memory: 0, cpuDaemons: 0, memoryDaemons: 0, pods: 0 };
  for (const pod of pods) {
    if (isTerminal(pod)) continue;
    const asked = amounts.requestsOf(pod);
    const cpu = asked.get('cpu') ?? 0;
    const memory = Math.round((asked.get('memory') ?? 0) / bytesPerMiB);
    used.pods += 1;
    used.cpu += cpu;
    used.memory += memory;
    const isDaemon = isOwnedByDaemonSet(pod);
    if (isDaemon) {
      used.cpuDaemons += cpu;
      used.memoryDaemons += memory;
    }
    addTo(cells, workloadOf(pod), isDaemon ? 'daemon' : podState(pod), { cpu, memory });
  }
  const state = stateOf(machine);
  const isGone = verdict?.verdict === 'remove' || verdict?.verdict === 'replace';
  return {
    facts: {
      name: node?.metadata.name ?? claim?.metadata.name ?? machine.key,
      pool: labels[label.nodePool] ?? '',
      type: labels[label.instanceType] ?? '',
      zone: labels[label.zone] ?? '',
      capacityType: labels[label.capacityType] ?? '',
      state,
      verdict: verdict?.verdict ?? 'unknown',
      code: verdict === undefined ? codeOf(state) : verdictCode(verdict),
      pricePerHour: verdict?.pricePerHour || pricePerHour,
      savingsPerHour: (isGone ? verdict?.savingsPerHour : verdict?.savingsIfFreedPerHour) ?? 0,
      createdMs: createdMs(node, claim),
      cpu: room.get('cpu') ?? 0,
      memory: Math.round((room.get('memory') ?? 0) / bytesPerMiB),
      cpuUsed: used.cpu,
      memoryUsed: used.memory,
      cpuDaemons: used.cpuDaemons,
      memoryDaemons: used.memoryDaemons,
      pods: used.pods,
    },
    cells: [...cells.values()].sort((left, right) => (left.workload < right.workload ? -1 : 1)),
  };
}

const createdMs = (node: Node | undefined, claim: NodeClaim | undefined): number =>
  parseTime(claim?.metadata.creationTimestamp ?? node?.metadata.creationTimestamp ?? '') ?? 0;

function addTo(
  cells: Map<string, Cell>,
  workload: string,
  state: string,
  asked: { cpu: number; memory: number },
): void {
  const key = `${workload} ${state}`;
  const cell = cells.get(key) ?? { workload, state, count: 0, cpu: 0, memory: 0 };
  cell.count += 1;
  cell.cpu += asked.cpu;
  cell.memory += asked.memory;
  cells.set(key, cell);
}

function podState(pod: Pod): string {
  if (pod.metadata.deletionTimestamp !== undefined) return 'ending';
  return pod.status?.phase === 'Running' ? 'running' : 'starting';
}

/** Until it is judged, a node says by its state why it is there. */
const codeOf = (state: string): string => (state === 'coming' ? 'NoNode' : state === 'joining' ? 'NotInitialized' : '');

function stateOf(machine: Machine): string {
  const { node } = machine;
  if (isLeaving(machine)) return 'leaving';
  if (node === undefined) return 'coming';
  if (!isInitialized(machine)) return 'joining';
  if (node.status?.conditions?.find(({ type }) => type === 'Ready')?.status !== 'True') return 'notReady';
  return node.spec?.unschedulable === true ? 'cordoned' : 'ready';
}
