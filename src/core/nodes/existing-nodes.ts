// Machines that can take pods, compiled: what is left of each resource after the pods on it and the daemons still to
// come, its labels as a set (equal nodes share one), its taints, ports and attached volumes.

import { label } from '../../api/names.ts';
import type { ClusterObjects } from '../kube/cluster-objects.ts';
import type { CSINode, Labels, Pod, Taint } from '../kube/objects.ts';
import { type HostPort, hostPortsOf } from '../pods/host-ports.ts';
import { isOwnedByDaemonSet, isTerminal } from '../pods/pod-classes.ts';
import { type Daemon, runsOnNode } from '../pools/daemons.ts';
import { type LabelRules, normalizedRequirement } from '../requirements/label-rules.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import type { RequestsOfPods } from '../resources/pod-requests.ts';
import type { ResourceTable } from '../resources/resource-table.ts';
import { attachmentsOf } from '../volumes/pod-volumes.ts';
import { storageOn } from '../volumes/storage-capacity.ts';
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
  /** Drivers without which kube-scheduler keeps pods with their volumes away, and that the node does not have. */
  readonly missingDrivers: ReadonlySet<string>;
  /** Whether there is storage for an unbound claim; undefined where no driver keeps account of it. */
  readonly hasStorageFor: ((claim: string) => boolean) | undefined;
}

export interface NodeContext {
  readonly objects: ClusterObjects;
  readonly table: RequirementTable;
  readonly rules: LabelRules;
  readonly resources: ResourceTable;
  readonly requests: RequestsOfPods;
  readonly daemons: readonly Daemon[];
  /** Most volumes per driver on a machine of this one's type, as the provider says. */
  typeAttachLimits(machine: Machine): Readonly<Record<string, number>> | undefined;
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
  // Daemons no one expected must not make room appear.
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
    attachLimits: attachLimits(objects, machine, context.typeAttachLimits(machine)),
    missingDrivers: missingDrivers(objects, machine),
    hasStorageFor: storageOn(objects, machine),
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

/** What the driver says on the node; until it speaks there, what the provider says about the type. */
function attachLimits(
  objects: ClusterObjects,
  machine: Machine,
  ofType: Readonly<Record<string, number>> | undefined,
): Map<string, number> {
  const limits = new Map<string, number>(Object.entries(ofType ?? {}));
  for (const { name, allocatable } of publishedDrivers(objects, machine)) {
    const count = allocatable?.count;
    if (count !== undefined && count !== null) limits.set(name, count);
    else limits.delete(name);
  }
  return limits;
}

type PublishedDriver = NonNullable<NonNullable<CSINode['spec']>['drivers']>[number];

function publishedDrivers(objects: ClusterObjects, { node }: Machine): readonly PublishedDriver[] {
  return (node === undefined ? undefined : objects.csiNodes.get(node.metadata.name))?.spec?.drivers ?? [];
}

const noDrivers: ReadonlySet<string> = new Set();

/** A node that is still coming up gets its drivers yet: only what is complete is judged by what it lacks. */
function missingDrivers(objects: ClusterObjects, machine: Machine): ReadonlySet<string> {
  if (objects.csiDrivers.size === 0 || !machine.initialized) return noDrivers;
  const published = new Set(publishedDrivers(objects, machine).map(({ name }) => name));
  const missing = [...objects.csiDrivers.values()]
    .filter(({ metadata, spec }) => spec?.preventPodSchedulingIfMissing === true && !published.has(metadata.name))
    .map(({ metadata }) => metadata.name);
  return missing.length === 0 ? noDrivers : new Set(missing);
}
