// A planned cluster as objects for a real API server: the machines that exist, the nodes the plan launches, what already
// runs on them, and the volumes. No kubelet is involved; nodes are Ready because they say so.
import { label, taint } from '../../../src/api/index.ts';
import type { Plan, PlannedNode, Snapshot, SnapshotObject } from '../../../src/core/index.ts';
import { type Template, templateOf } from '../../planner/rules/catalogue.ts';
import type { Cluster, Machine } from '../../planner/rules/cluster.ts';
import type { Pod, Taint } from '../../planner/rules/objects.ts';
import { isTerminating } from '../../planner/rules/pods.ts';
import type { Amounts } from '../../planner/rules/quantity.ts';
import { plannedLabels, presentMachines } from '../../planner/validator/binding.ts';

/** Billionths as quantities; memory in whole bytes, everything else in thousandths. */
function asQuantities(list: Amounts): Record<string, string> {
  const text = (name: string, value: bigint): string =>
    name === 'cpu' ? `${value / 1_000_000n}m` : String(value / 1_000_000_000n);
  return Object.fromEntries([...list].map(([name, value]) => [name, text(name, value)]));
}

function nodeObject(
  name: string,
  labels: Record<string, string>,
  taints: readonly Taint[],
  room: Amounts,
): SnapshotObject {
  const resources = asQuantities(room);
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    spec: { taints },
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: [{ type: 'Ready', status: 'True', reason: 'Rig', message: 'a node without a machine' }],
    },
  };
}

function existingNode(machine: Machine): SnapshotObject {
  const taints = machine.leaving ? [...machine.taints, taint.disrupted] : machine.taints;
  const labels = { ...machine.labels, [label.hostname]: machine.hostname };
  return nodeObject(machine.name, labels, taints, machine.allocatable);
}

function launchedNode(node: PlannedNode, cluster: Cluster): SnapshotObject {
  const template = templateFor(node, cluster);
  const type = template.types.find((t) => t.name === node.chosen.instanceType);
  const offering = type?.offerings.find(
    (o) => o.zone === node.chosen.zone && o.capacityType === node.chosen.capacityType && o.available,
  );
  if (type === undefined || offering === undefined) throw new Error(`${node.name} chose what is not offered`);
  return nodeObject(node.name, plannedLabels(node, type), template.taints, offering.allocatable);
}

function templateFor(node: PlannedNode, cluster: Cluster): Template {
  const pool = cluster.pools.find((p) => p.metadata.name === node.nodePool);
  const template = pool === undefined ? undefined : templateOf(pool, cluster);
  if (template === undefined) throw new Error(`${node.name} is of an unknown NodePool`);
  return template;
}

/** Machines that count: see `presentMachines`. */
export function nodesOf(plan: Plan, cluster: Cluster): SnapshotObject[] {
  return [
    ...presentMachines(plan, cluster).map(existingNode),
    ...plan.newNodes.map((node) => launchedNode(node, cluster)),
  ];
}

export function csiNodesOf(snapshot: Snapshot, nodes: readonly SnapshotObject[]): SnapshotObject[] {
  const names = new Set(nodes.map((node) => node.metadata.name));
  return snapshot.objects.items.filter((item) => item.kind === 'CSINode' && names.has(item.metadata.name));
}

/** What runs already and stays; pods on their way out are taken as gone. */
export function boundPods(plan: Plan, cluster: Cluster): { pod: Pod; node: string }[] {
  const moving = new Set(cluster.waiting);
  return presentMachines(plan, cluster).flatMap((machine) =>
    machine.pods.filter((pod) => !moving.has(pod) && !isTerminating(pod)).map((pod) => ({ pod, node: machine.name })),
  );
}

/** Only the spec and the labels: status and identity are the API server's. */
export function freshPod(pod: Pod, spec: object): SnapshotObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: pod.metadata.name,
      namespace: pod.metadata.namespace ?? 'default',
      ...(pod.metadata.labels === undefined ? {} : { labels: pod.metadata.labels }),
    },
    spec: { ...pod.spec, terminationGracePeriodSeconds: 0, ...spec },
  };
}

/** A preference far heavier than any of the pod's own: the only score the rig's scheduler looks at. */
export function preferringNode(pod: Pod, hostname: string): object {
  const { nodeName, ...spec } = pod.spec;
  void nodeName;
  const own = spec.affinity?.nodeAffinity;
  const liked = own?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return {
    nodeName: undefined,
    affinity: {
      ...spec.affinity,
      nodeAffinity: {
        ...own,
        preferredDuringSchedulingIgnoredDuringExecution: [
          ...liked,
          {
            weight: 100,
            preference: { matchExpressions: [{ key: label.hostname, operator: 'In', values: [hostname] }] },
          },
        ],
      },
    },
  };
}
