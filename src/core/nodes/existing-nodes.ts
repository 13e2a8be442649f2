// Machines that can take pods, compiled: what is left of each resource after the pods on it and the daemons still to
// come, its labels as a set (equal nodes share one), its taints, ports and attached volumes.

import { label } from '../../api/names.ts';
import type { ClusterObjects } from '../kube/cluster-objects.ts';
import type { Labels, Pod, Taint } from '../kube/objects.ts';
import { type HostPort, hostPortsOf } from '../pods/host-ports.ts';
import { isOwnedByDaemonSet, isTerminal } from '../pods/pod-classes.ts';
import { type Daemon, runsOnNode } from '../pools/daemons.ts';
import { type LabelRules, normalizedRequirement } from '../requirements/label-rules.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import type { RequestsOfPods } from '../resources/pod-requests.ts';
import type { ResourceTable } from '../resources/resource-table.ts';
import { attachmentsOf } from '../volumes/pod-volumes.ts';
import type { Machine } from './machines.ts';

export interface ExistingNode {
  readonly index: number;
  readonly name: string;
  readonly hostname: string;
  readonly poolName: string | undefined;
  /** Without the host name. */
  readonly set: RequirementSet;
  readonly taints: readonly Taint[];
  /** By resource name; only what the node offers. May be negative, and then nothing fits. */
  readonly free: ReadonlyMap<string, number>;
  readonly ports: readonly HostPort[];
  /** Attached claims per driver, and the most the driver attaches. */
  readonly attached: ReadonlyMap<string, ReadonlySet<string>>;
  readonly attachLimits: ReadonlyMap<string, number>;
}

export interface NodeContext {
  readonly objects: ClusterObjects;
  readonly table: RequirementTable;
  readonly rules: LabelRules;
  readonly resources: ResourceTable;
  readonly requests: RequestsOfPods;
  readonly daemons: readonly Daemon[];
}

export function podsByNode(pods: readonly Pod[]): Map<string, Pod[]> {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    const name = pod.spec?.nodeName;
    if (!name || isTerminal(pod)) continue;
    const list = byNode.get(name);
    if (list) list.push(pod);
    else byNode.set(name, [pod]);
  }
  return byNode;
}

/** Nodes mostly differ in their host name only; the sets of the rest are looked up by text. */
const labelSets = new WeakMap<RequirementTable, Map<string, RequirementSet>>();

export function labelSet(table: RequirementTable, rules: LabelRules, labels: Labels): RequirementSet {
  const known = labelSets.get(table) ?? new Map<string, RequirementSet>();
  labelSets.set(table, known);
  const identity = JSON.stringify({ ...labels, [label.hostname]: undefined });
  let set = known.get(identity);
  if (set === undefined) {
    set = compileLabels(table, rules, labels);
    known.set(identity, set);
  }
  return set;
}

function compileLabels(table: RequirementTable, rules: LabelRules, labels: Labels): RequirementSet {
  return table.setOf(
    Object.entries(labels)
      .filter(([key]) => key !== label.hostname)
      .map(([key, value]) =>
        table.internRequirement(normalizedRequirement(rules, { key, operator: 'In', values: [value] })),
      ),
  );
}

export function existingNode(
  context: NodeContext,
  machine: Machine,
  index: number,
  podsOn: ReadonlyMap<string, readonly Pod[]>,
): ExistingNode {
  const { objects, table, rules, resources } = context;
  const set = labelSet(table, rules, machine.labels);
  const pods = machine.node === undefined ? [] : (podsOn.get(machine.node.metadata.name) ?? []);
  const free = new Map<string, number>();
  for (const [name, quantity] of Object.entries(machine.allocatable)) free.set(name, resources.amount(name, quantity));
  const daemonsToCome = expectedDaemons(context, machine, set);
  const ports: HostPort[] = [];
  const attached = new Map<string, Set<string>>();
  for (const pod of pods) {
    const requests = context.requests.of(pod);
    takeFrom(free, requests);
    if (isOwnedByDaemonSet(pod)) takeFrom(daemonsToCome, requests);
    ports.push(...hostPortsOf(pod));
    for (const [driver, claims] of attachmentsOf(objects, pod)) {
      attached.set(driver, new Set([...(attached.get(driver) ?? []), ...claims]));
    }
  }
  // Daemons nobody expected must not make room appear.
  for (const [name, amount] of daemonsToCome) if (amount < 0) daemonsToCome.set(name, 0);
  takeFrom(free, daemonsToCome);
  for (const name of free.keys()) resources.column(name);
  return {
    index,
    name: machine.name,
    hostname: machine.hostname,
    poolName: machine.labels[label.nodePool],
    set,
    taints: machine.taints,
    free,
    ports,
    attached,
    attachLimits: attachLimits(objects, machine),
  };
}

function expectedDaemons(context: NodeContext, machine: Machine, labels: RequirementSet): Map<string, number> {
  const expected = new Map<string, number>();
  const { hostname, taints } = machine;
  for (const daemon of context.daemons) {
    if (!runsOnNode(context.table, daemon, { labels, hostname, taints })) continue;
    for (const [name, amount] of daemon.requests) expected.set(name, (expected.get(name) ?? 0) + amount);
  }
  return expected;
}

/** Subtracts what is there to be subtracted from: a resource the node does not offer is not owed. */
function takeFrom(amounts: Map<string, number>, taken: ReadonlyMap<string, number>): void {
  for (const [name, amount] of taken) {
    const known = amounts.get(name);
    if (known !== undefined) amounts.set(name, known - amount);
  }
}

function attachLimits(objects: ClusterObjects, machine: Machine): Map<string, number> {
  const limits = new Map<string, number>();
  const name = machine.node?.metadata.name;
  for (const driver of (name === undefined ? undefined : objects.csiNodes.get(name))?.spec?.drivers ?? []) {
    const count = driver.allocatable?.count;
    if (count !== undefined && count !== null) limits.set(driver.name, count);
  }
  return limits;
}
