// The world: a snapshot compiled once. Everything a plan needs that does not change while planning is here (pools with
// their instance types as columns, nodes, pods in groups, topology with today's counts), together with the tables whose
// memory makes the second plan faster than the first.

import { label, taint } from '../api/names.ts';
import { atOnce, parseTime, type Sliced } from '../base/index.ts';
import { type DeviceWorld, deviceWorld } from './devices/device-world.ts';
import { type ExtendedResources, extendedResources } from './devices/extended-resources.ts';
import { type CompileDeviceSelector, remembering } from './devices/resource-claim-requests.ts';
import { type ClusterObjects, clusterObjects } from './kube/cluster-objects.ts';
import type { Pod } from './kube/objects.ts';
import { type ExistingNode, existingNode, labelSet, type NodeContext, podsByNode } from './nodes/existing-nodes.ts';
import { type Machine, machinesOf } from './nodes/machines.ts';
import { type Repairs, repairsOf } from './nodes/repairs.ts';
import { isReschedulable, type MovableTest, movableTest } from './pods/pod-classes.ts';
import type { VariantContext } from './pods/pod-variants.ts';
import { daemonsOf } from './pools/daemons.ts';
import type { InstanceType } from './pools/instance-types.ts';
import { offeredPools, type PausedTemplate, reservationsOf, templatesOf } from './pools/offered-pools.ts';
import type { PoolOutcome, Template } from './pools/templates.ts';
import { usablePools } from './pools/usable-pools.ts';
import { preparePods, type RejectedPod } from './prepare-pods.ts';
import { labelRules } from './requirements/label-rules.ts';
import { RequirementTable } from './requirements/requirement-set.ts';
import { RequestsOfPods } from './resources/pod-requests.ts';
import { ResourceTable } from './resources/resource-table.ts';
import type { Snapshot } from './snapshot.ts';
import { PoolDomains } from './topology/pool-domains.ts';
import { TopologyGroups } from './topology/topology-groups.ts';
import { TopologyIndex, type TopologyNode } from './topology/topology-index.ts';
import { groupPods, type Workload } from './workload.ts';

export interface Settings {
  readonly respectPreferences: boolean;
  readonly relaxMinValues: boolean;
  readonly ignoreDevices: boolean;
  readonly maxInstanceTypes: number;
  readonly nodeCostPerHour: number;
  readonly reservedCapacity: boolean;
}

export interface World {
  readonly settings: Settings;
  readonly table: RequirementTable;
  readonly resources: ResourceTable;
  /** Some pool may get new nodes; if not, nothing is placed at all. */
  readonly hasPools: boolean;
  readonly templates: readonly Template[];
  /** Of pools whose launches are paused: they get no nodes now, but pods that wait for them say so. */
  readonly pausedTemplates: readonly PausedTemplate[];
  /** By pool: everything the provider offers it, whether or not its requirements accept it. */
  readonly offeredTypes: ReadonlyMap<string, readonly InstanceType[]>;
  /** Usable pools that lost all instance types, and why. */
  readonly emptyPools: readonly { readonly poolName: string; readonly outcome: PoolOutcome }[];
  readonly reservationIdLabel: string | undefined;
  /** Reserved instances per reservation: the least any pool reports. */
  readonly reservations: ReadonlyMap<string, number>;
  readonly nodes: readonly ExistingNode[];
  readonly rejected: readonly RejectedPod[];
  readonly workload: Workload;
  /** Undefined where devices are ignored. */
  readonly devices: DeviceWorld | undefined;
  /** Undefined where no pod asks for devices by the name of a resource. */
  readonly extended: ExtendedResources | undefined;
}

/** The most instance types a NodeClaim may list. */
const mostInstanceTypes = 600;

/** About what a root volume of 20 GiB and a public address cost beside the machine, in USD. */
export const usualNodeCostPerHour = 0.005;

export interface IndexOptions {
  /** Reads the selectors of devices; without it, no selector selects anything. */
  readonly compileDeviceSelector?: CompileDeviceSelector;
}

export function indexSnapshot(snapshot: Snapshot, options: IndexOptions = {}): World {
  return atOnce(indexSnapshotInSlices(snapshot, options));
}

export function* indexSnapshotInSlices(snapshot: Snapshot, options: IndexOptions = {}): Sliced<World> {
  return (yield* compile(snapshot, false, options)).world;
}

/** A world that also knows the pods that could be moved, for asking what would be if nodes were gone. */
export interface MovableWorld {
  readonly world: World;
  readonly objects: ClusterObjects;
  /** Every machine; those that take pods are `active`, numbered like the world's nodes. */
  readonly machines: readonly Machine[];
  readonly active: readonly Machine[];
  /** Pods by the node they are on; ended ones left out. */
  readonly podsOn: ReadonlyMap<string, readonly Pod[]>;
  /** Broken nodes, where those are repaired. */
  readonly repairs: Repairs | undefined;
  /** What may be moved off a node now. */
  isMovable(pod: Pod): boolean;
}

export function indexMovableInSlices(snapshot: Snapshot, options: IndexOptions = {}): Sliced<MovableWorld> {
  return compile(snapshot, true, options);
}

/** Yields after every pod, node and instance type that has been compiled. */
function* compile(snapshot: Snapshot, moving: boolean, options: IndexOptions): Sliced<MovableWorld> {
  const settings = settingsOf(snapshot);
  const objects = yield* clusterObjects(snapshot);
  yield;
  const rules = labelRules(snapshot.provider);
  const table = new RequirementTable(rules.wellKnown);
  const resources = new ResourceTable();
  const requests = new RequestsOfPods(resources);
  const known = yield* machinesOf(snapshot, objects);
  const entries = new Map(snapshot.instanceTypes?.map((entry) => [entry.nodePool, entry]));
  const compileSelector = remembering(options.compileDeviceSelector ?? noSelectors);
  const devices = settings.ignoreDevices
    ? undefined
    : deviceWorld({ objects, table, rules, machines: known, compile: compileSelector, offered: entries });
  const extended = extendedResources(devices, objects, compileSelector);
  const machines = extended === undefined ? known : known.map((machine) => extended.ofMachine(machine));
  yield;
  const active = machines.filter((machine) => !machine.leaving);
  const pools = usablePools(objects.nodePools.values(), snapshot.provider);
  const groups = new TopologyGroups(objects.namespaces);
  const variants: VariantContext = {
    table,
    rules,
    groups,
    respectPreferences: settings.respectPreferences,
    relaxPreferNoSchedule: pools.some((pool) =>
      pool.spec?.template?.spec?.taints?.some((taint) => taint.effect === 'PreferNoSchedule'),
    ),
  };

  const nowMs = (snapshot.time === undefined ? undefined : parseTime(snapshot.time)) ?? 0;
  const repairs = repairsOf(snapshot, machines);
  const isFree = movableTest(objects.disruptionBudgets, nowMs);
  // The pods of a broken node move whatever protects them, so they need a place.
  const isMovable: MovableTest = (pod) =>
    isFree(pod) || (repairs?.due.has(pod.spec?.nodeName ?? '') === true && isReschedulable(pod));
  const choice = { isMovable, moving, ignoreDevices: settings.ignoreDevices };
  const podContext = { objects, machines, provider: snapshot.provider, requests, variants, nowMs };
  const { prepared, rejected, planned } = yield* preparePods(podContext, choice);

  const daemons = daemonsOf({ objects, requests, variants, skipResourceClaims: settings.ignoreDevices });
  yield;
  const podsOn = podsByNode(objects.pods);
  yield;
  const typeAttachLimits = attachLimitsOf(snapshot);
  const nodeContext = { objects, table, rules, resources, requests, daemons, typeAttachLimits };
  const nodes: ExistingNode[] = [];
  for (const [index, machine] of active.entries()) {
    nodes.push(existingNode(nodeContext, machine, index, podsOn));
    yield;
  }

  const { relaxMinValues, nodeCostPerHour } = settings;
  const poolContext = { table, rules, resources, machines, extended, relaxMinValues, nowMs };
  const considered = yield* offeredPools(snapshot, pools, poolContext);
  const { templates, pausedTemplates } = yield* templatesOf(considered, { table, resources, daemons, nodeCostPerHour });
  const offered = considered.filter(({ pause }) => pause === undefined);

  const machineOf = new Map(machines.map((machine) => [machine.node?.metadata.name, machine]));
  const topologyNodes = new Map<string, TopologyNode>();
  for (const node of objects.nodes.values()) {
    yield;
    const labels = node.metadata.labels ?? {};
    const machine = machineOf.get(node.metadata.name);
    topologyNodes.set(node.metadata.name, {
      name: node.metadata.name,
      labels,
      set: labelSet(table, rules, labels),
      // As they are when pods are bound, for spreads that honor taints: those of a node that starts are gone, and that of one
      // that leaves, written a moment after the decision, is there.
      taints: [
        ...(machine?.taints ?? node.spec?.taints ?? []),
        ...(machine?.leaving === true ? [taint.disrupted] : []),
      ],
    });
  }
  const boundPods = objects.pods.filter((pod) => Boolean(pod.spec?.nodeName) && !planned.has(pod));
  yield;
  const topology = yield* TopologyIndex.inSlices({
    table,
    groups,
    poolDomains: new PoolDomains(table, rules, offered),
    nodes: topologyNodes,
    destinations: active.map((machine) => ({
      node: machine.node === undefined ? undefined : topologyNodes.get(machine.node.metadata.name),
      labels: machine.labels,
    })),
    boundPods,
  });

  const world: World = {
    settings,
    table,
    resources,
    hasPools: pools.length > 0,
    templates,
    pausedTemplates,
    offeredTypes: new Map(considered.map(({ pool, types }) => [pool.metadata.name, types])),
    emptyPools: considered
      .filter(({ outcome }) => outcome.kind !== 'template')
      .map(({ pool, outcome }) => ({ poolName: pool.metadata.name, outcome })),
    reservationIdLabel: snapshot.provider?.reservationIDLabel,
    reservations: reservationsOf(offered),
    nodes,
    rejected,
    workload: yield* groupPods(prepared, topology, resources),
    devices,
    extended,
  };
  return { world, objects, machines, active, podsOn, repairs, isMovable };
}

/** By pool and type, as the provider says; nothing is looked up where it says nothing. */
function attachLimitsOf({ instanceTypes = [] }: Snapshot): NodeContext['typeAttachLimits'] {
  const limits = new Map<string, Readonly<Record<string, number>>>();
  for (const { nodePool, items = [] } of instanceTypes) {
    for (const { name, volumeAttachmentLimits } of items)
      if (volumeAttachmentLimits !== undefined) limits.set(`${nodePool}/${name}`, volumeAttachmentLimits);
  }
  if (limits.size === 0) return () => undefined;
  return ({ labels }) => limits.get(`${labels[label.nodePool]}/${labels[label.instanceType]}`);
}

const noSelectors: CompileDeviceSelector = () => ({ error: 'device selectors cannot be read here' });

function settingsOf(snapshot: Snapshot): Settings {
  const { settings = {} } = snapshot;
  return {
    respectPreferences: settings.preferencePolicy !== 'Ignore',
    relaxMinValues: settings.minValuesPolicy === 'BestEffort',
    ignoreDevices: settings.ignoreDRARequests ?? true,
    maxInstanceTypes: settings.maxInstanceTypes ?? mostInstanceTypes,
    nodeCostPerHour: settings.nodeCostPerHour ?? usualNodeCostPerHour,
    reservedCapacity: settings.featureGates?.['ReservedCapacity'] ?? true,
  };
}
