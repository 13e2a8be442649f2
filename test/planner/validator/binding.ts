// Would kube-scheduler bind every placed pod where the plan says? It binds one pod after the other, and spread and
// affinity look at who is there already, so the claim is: there is an order in which every pod is accepted on its node.
// Several plausible orders are tried; the one that works is returned, for tests that replay it on a real scheduler.

import { seeded } from '../../../bench/workloads/random.ts';
import { label, taint } from '../../../src/api/index.ts';
import type { Plan, PlannedNode } from '../../../src/core/index.ts';
import { type InstanceType, templateOf } from '../rules/catalogue.ts';
import type { Cluster, Machine } from '../rules/cluster.ts';
import { type Daemon, daemonsOf, daemonsOnType, expectedDaemons } from '../rules/daemons.ts';
import { type Pod, podKey } from '../rules/objects.ts';
import { podRequests } from '../rules/pods.ts';
import { plus } from '../rules/quantity.ts';
import { get, has, intersection, oneOf, type Requirement, requirements } from '../rules/requirement.ts';
import { type BoundNode, type Counting, refusal } from './kube-scheduler.ts';
import { openLabels } from './open-labels.ts';

interface Placement {
  pod: Pod;
  node: string;
}

export interface Binding {
  /** Pods in an order in which all of them are accepted, as far as one was found. */
  order: Placement[];
  refused: string[];
}

/** As planning counts, where kube-scheduler counts otherwise; `README.md` says why no plan could please both. */
export interface Leniency {
  /** Pods that came to a new node before its labels were certain are in no domain for the rules of others. */
  openLabels?: 'preferences tie' | 'preferences do not tie';
  /** Machines that have not joined yet join one by one, each once the pods that wait for nothing else are bound. */
  lateMachines?: boolean;
  /** A machine that leaves is a domain only with the pods that a rule counts there. */
  leavingMachines?: boolean;
}

export function bindAll(plan: Plan, cluster: Cluster, leniency: Leniency = {}): Binding {
  const placements = placementsOf(plan, cluster);
  let best: Binding | undefined;
  for (const order of plausibleOrders(placements)) {
    const result = bindInOrder(order, plan, cluster, leniency);
    if (best === undefined || result.refused.length < best.refused.length) best = result;
    if (best.refused.length === 0) break;
  }
  return best ?? { order: [], refused: [] };
}

function placementsOf(plan: Plan, cluster: Cluster): Placement[] {
  return [...plan.existingNodes, ...plan.newNodes].flatMap(({ name, pods }) =>
    pods.flatMap((key) => {
      const pod = cluster.waiting.find((p) => podKey(p) === key);
      return pod === undefined ? [] : [{ pod, node: name }];
    }),
  );
}

function* plausibleOrders(placements: Placement[]): Generator<Placement[]> {
  const cpu = new Map(placements.map(({ pod }) => [pod, podRequests(pod.spec).get('cpu') ?? 0n]));
  const bySize = [...placements].sort((a, b) => Number((cpu.get(b.pod) ?? 0n) - (cpu.get(a.pod) ?? 0n)));
  const constrained = ({ pod }: Placement): boolean =>
    (pod.spec.topologySpreadConstraints ?? []).some((s) => s.whenUnsatisfiable === 'DoNotSchedule') ||
    (pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).length > 0;
  yield [...bySize.filter(constrained), ...bySize.filter((p) => !constrained(p))];
  yield [...bySize.filter((p) => !constrained(p)), ...bySize.filter(constrained)];
  yield bySize;
  yield [...bySize].reverse();
  const random = seeded(7);
  for (let i = 0; i < 12; i++) yield random.shuffled(placements);
}

/** Always binds the first pod of the order that is accepted now, until no one is. */
function bindInOrder(placements: Placement[], plan: Plan, cluster: Cluster, leniency: Leniency): Binding {
  const unjoined = new Set(cluster.machines.filter(({ node }) => node === undefined).map(({ name }) => name));
  const all = allNodes(plan, cluster);
  const late = leniency.lateMachines === true ? all.filter(({ name }) => unjoined.has(name)) : [];
  const nodes = all.filter((node) => !late.includes(node));
  const counting: Counting = {
    open: leniency.openLabels && openLabels(plan, cluster, leniency.openLabels === 'preferences tie'),
    passesLeaving: leniency.leavingMachines ?? false,
  };
  const order: Placement[] = [];
  const waiting = [...placements];
  const why = ({ pod, node: name }: Placement): string | undefined => {
    const node = nodes.find((n) => n.name === name);
    return node === undefined ? 'unknown node' : refusal(pod, node, nodes, cluster, counting);
  };
  /** One machine joins: the first after which a pod is accepted. */
  const join = (): void => {
    const helps = (machine: BoundNode): boolean => {
      nodes.push(machine);
      const isHelp = waiting.some((placement) => why(placement) === undefined);
      nodes.pop();
      return isHelp;
    };
    const [machine] = late.splice(Math.max(0, late.findIndex(helps)), 1);
    if (machine !== undefined) nodes.push(machine);
  };
  for (;;) {
    const next = waiting.findIndex((placement) => why(placement) === undefined);
    const [placement] = next < 0 ? [] : waiting.splice(next, 1);
    if (placement === undefined && late.length > 0) {
      join();
      continue;
    }
    if (placement === undefined) break;
    nodes.find((n) => n.name === placement.node)?.pods.push(placement.pod);
    order.push(placement);
  }
  const refused = waiting.map((p) => `kube-scheduler refuses ${podKey(p.pod)} on ${p.node}: ${why(p)}`);
  return { order, refused };
}

/**
 * Machines the scheduler will see: a launched one without a Node is not a domain yet, unless the plan counts on it; a leaving
 * one is none any more, unless something stays on it.
 */
export function presentMachines(plan: Plan, cluster: Cluster): Machine[] {
  const moving = new Set(cluster.waiting);
  const used = new Set(plan.existingNodes.map((node) => node.name));
  return cluster.machines.filter((machine) =>
    machine.leaving
      ? machine.pods.some((pod) => !moving.has(pod))
      : machine.node !== undefined || used.has(machine.name),
  );
}

function allNodes(plan: Plan, cluster: Cluster): BoundNode[] {
  const daemons = daemonsOf(cluster);
  const moving = new Set(cluster.waiting);
  return [
    ...presentMachines(plan, cluster).map((machine) => existingNode(machine, daemons, cluster, moving)),
    ...plan.newNodes.flatMap((node) => newNode(node, daemons, cluster) ?? []),
  ];
}

function existingNode(machine: Machine, daemons: Daemon[], cluster: Cluster, moving: Set<Pod>): BoundNode {
  const csi = cluster.csiNodes.find((node) => node.metadata.name === machine.node?.metadata.name);
  return {
    name: machine.name,
    labels: { ...machine.labels, [label.hostname]: machine.hostname },
    isLeaving: machine.leaving,
    taints: machine.leaving ? [...machine.taints, taint.disrupted] : machine.taints,
    reserved: expectedDaemons(daemons, machine, cluster),
    reservedPorts: [],
    allocatable: machine.allocatable,
    attachLimits: new Map(
      (csi?.spec.drivers ?? []).flatMap((d) =>
        d.allocatable?.count === undefined ? [] : [[d.name, d.allocatable.count]],
      ),
    ),
    pods: machine.pods.filter((pod) => !moving.has(pod)),
  };
}

function newNode(node: PlannedNode, daemons: Daemon[], cluster: Cluster): BoundNode | undefined {
  const pool = cluster.pools.find((p) => p.metadata.name === node.nodePool);
  const template = pool === undefined ? undefined : templateOf(pool, cluster);
  const type = template?.types.find((t) => t.name === node.chosen.instanceType);
  if (template === undefined || type === undefined) return undefined;
  const offering = type.offerings.find(
    (o) => o.zone === node.chosen.zone && o.capacityType === node.chosen.capacityType,
  );
  const due = daemonsOnType(daemons, template, type, cluster);
  return {
    name: node.name,
    labels: plannedLabels(node, type),
    isLeaving: false,
    taints: template.taints,
    reserved: plus(...due.map((daemon) => daemon.requests)),
    reservedPorts: due.flatMap((daemon) => daemon.ports),
    allocatable: offering?.allocatable ?? new Map(),
    attachLimits: new Map(),
    pods: [],
  };
}

/** Labels the launched node will carry: single values as they are, one possible value where several remain. */
export function plannedLabels(node: PlannedNode, type: InstanceType): Record<string, string> {
  const labels: Record<string, string> = { [label.registered]: 'true', [label.initialized]: 'true' };
  const wanted = requirements(node.requirements);
  const { chosen } = node;
  for (const [key, value] of [
    [label.instanceType, chosen.instanceType],
    [label.zone, chosen.zone],
    [label.capacityType, chosen.capacityType],
  ] as const) {
    if (value !== '') wanted.set(key, oneOf(key, [value]));
  }
  for (const key of new Set([...wanted.keys(), ...type.requirements.keys()])) {
    const value = someValue(intersection(get(wanted, key), get(type.requirements, key)));
    if (value !== undefined) labels[key] = value;
  }
  labels[label.hostname] = node.name;
  return labels;
}

function someValue(r: Requirement): string | undefined {
  if (!r.complement) return [...r.values].sort()[0];
  for (let n = r.gte ?? 0; n <= (r.lte ?? Number.MAX_SAFE_INTEGER); n++) if (has(r, String(n))) return String(n);
  return undefined;
}
