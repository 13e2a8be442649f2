// The world: a snapshot compiled once. Everything a plan needs that does not change while planning is here (pools with
// their instance types as columns, nodes, pods in groups, topology with today's counts), together with the tables whose
// memory makes the second plan faster than the first.

import { label } from '../api/names.ts';
import { atOnce, KerfError, parseTime, type Sliced } from '../base/index.ts';
import { type CompileDeviceSelector, remembering } from './devices/claim-requests.ts';
import { type DeviceWorld, deviceWorld } from './devices/device-world.ts';
import { type ExtendedResources, extendedResources } from './devices/extended-resources.ts';
import { podClaims } from './devices/pod-claims.ts';
import { type ClusterObjects, clusterObjects } from './kube/cluster-objects.ts';
import { type NodePool, namespacedKey, type Pod } from './kube/objects.ts';
import { toleratesAll } from './kube/taints.ts';
import { type ExistingNode, existingNode, labelSet, type NodeContext, podsByNode } from './nodes/existing-nodes.ts';
import { type Machine, machinesOf } from './nodes/machines.ts';
import { type Repairs, repairsOf } from './nodes/repairs.ts';
import type { Reason } from './plan.ts';
import {
  isBufferPod,
  isProvisionable,
  isReschedulable,
  isTerminating,
  type MovableTest,
  movableTest,
  type NominationTest,
} from './pods/pod-classes.ts';
import { PodValidator } from './pods/pod-validation.ts';
import { type VariantContext, wishedRequirements } from './pods/pod-variants.ts';
import { daemonsOf } from './pools/daemons.ts';
import { FailedOfferings } from './pools/failed-offerings.ts';
import { Catalogue, type InstanceType } from './pools/instance-types.ts';
import { nodeLimit, remainingLimits, useOf } from './pools/limits.ts';
import { type Pause, pauseOf } from './pools/pauses.ts';
import { buildTemplate, type PoolOutcome, poolOutcome, type Template, templateSet } from './pools/templates.ts';
import { usablePools } from './pools/usable-pools.ts';
import { labelRules } from './requirements/label-rules.ts';
import { RequirementTable } from './requirements/requirement-set.ts';
import { RequestsOfPods } from './resources/pod-requests.ts';
import { ResourceTable } from './resources/resource-table.ts';
import type { ResourceQuantities, Snapshot } from './snapshot.ts';
import { PoolDomains } from './topology/pool-domains.ts';
import { TopologyGroups } from './topology/topology-groups.ts';
import { TopologyIndex, type TopologyNode } from './topology/topology-index.ts';
import { attachmentsOf, noAttachments } from './volumes/pod-volumes.ts';
import { anywhere, volumeAlternatives } from './volumes/volume-alternatives.ts';
import {
  groupPods,
  PodKinds,
  PodShapes,
  type PreparedPod,
  podsAtOnce,
  type QueuedPod,
  queuedPod,
  queueOrder,
  type Workload,
} from './workload.ts';

export interface Settings {
  readonly respectPreferences: boolean;
  readonly relaxMinValues: boolean;
  readonly ignoreDevices: boolean;
  readonly maxInstanceTypes: number;
  readonly nodeCostPerHour: number;
  readonly reservedCapacity: boolean;
}

export interface RejectedPod {
  readonly key: string;
  readonly reason: Reason;
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

export interface PausedTemplate {
  readonly template: Template;
  readonly pause: Pause;
}

interface OfferedPool {
  readonly pool: NodePool;
  readonly pause: Pause | undefined;
  readonly types: readonly InstanceType[];
  /** What it may still grow by; undefined without limits. */
  readonly limits: ReturnType<typeof remainingLimits>;
  readonly outcome: PoolOutcome;
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
  const objects = clusterObjects(snapshot);
  yield;
  const rules = labelRules(snapshot.provider);
  const table = new RequirementTable(rules.wellKnown);
  const resources = new ResourceTable();
  const requests = new RequestsOfPods(resources);
  const known = machinesOf(snapshot, objects, resources);
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
  const { prepared, rejected, planned } = yield* preparePods(snapshot, objects, machines, requests, variants, choice);

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

  const reservationIdLabel = snapshot.provider?.reservationIDLabel;
  const failed = new FailedOfferings(snapshot.failedOfferings ?? [], nowMs);
  const catalogue = new Catalogue({ table, rules, resources, reservationIdLabel, failed });
  const poolStates = new Map(snapshot.poolState?.map((entry) => [entry.nodePool, entry]));
  const considered: OfferedPool[] = [];
  for (const pool of pools) {
    const entry = entries.get(pool.metadata.name);
    const items = entry?.error === undefined ? (entry?.items ?? []) : [];
    const types = catalogue.typesOf(extended === undefined ? items : items.map((type) => extended.ofType(type)));
    yield;
    const set = templateSet(table, rules, pool);
    const state = poolStates.get(pool.metadata.name);
    const limits = attempt(() => remainingLimits(pool, { ...usedBy(pool, machines), ...state?.inUse }, resources));
    const outcome: PoolOutcome =
      limits.problem === undefined
        ? poolOutcome(table, set, entry, types, settings.relaxMinValues)
        : { kind: 'unusable', why: 'error', message: `its limits: ${limits.problem}` };
    considered.push({ pool, pause: pauseOf(state, nowMs), types, limits: limits.value, outcome });
    yield;
  }
  const offered = considered.filter(({ pause }) => pause === undefined);
  const templates: Template[] = [];
  const { nodeCostPerHour } = settings;
  const pausedTemplates: PausedTemplate[] = [];
  // Paused ones last: the others are numbered as if these were not there.
  for (const { pool, pause, limits, outcome } of [...offered, ...considered.filter((each) => each.pause)]) {
    if (outcome.kind !== 'template') continue;
    const index = templates.length + pausedTemplates.length;
    const { set, rows } = outcome;
    const template = buildTemplate(table, resources, { index, pool, set, rows, daemons, limits, nodeCostPerHour });
    if (pause === undefined) templates.push(template);
    else pausedTemplates.push({ template, pause });
    yield;
  }

  const topologyNodes = new Map<string, TopologyNode>();
  for (const node of objects.nodes.values()) {
    yield;
    const labels = node.metadata.labels ?? {};
    topologyNodes.set(node.metadata.name, {
      name: node.metadata.name,
      labels,
      set: labelSet(table, rules, labels),
      taints: node.spec?.taints ?? [],
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
    reservationIdLabel,
    reservations: reservationsOf(offered.map(({ types }) => types)),
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

/** By the machines that count; with what a controller knows of launches under way laid over it. */
function usedBy({ spec, metadata }: NodePool, machines: readonly Machine[]): ResourceQuantities {
  const limited = Object.keys(spec?.limits ?? {});
  if (limited.length === 0) return {};
  const own = machines.filter((machine) => !machine.leaving && machine.labels[label.nodePool] === metadata.name);
  return useOf(
    own.map(({ capacity }) => ({ ...capacity, [nodeLimit]: 1 })),
    limited,
  );
}

/** Objects past every validation exist; what cannot be read about one is its own problem, not everybody's. */
function attempt<T>(read: () => T): { value: T; problem?: undefined } | { value?: undefined; problem: string } {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof KerfError) return { problem: error.message };
    throw error;
  }
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

/** Nominations to nodes that are not known stand: nothing speaks against them. */
function nominationTest(pods: readonly Pod[], machines: readonly Machine[], requests: RequestsOfPods): NominationTest {
  let podsOn: ReadonlyMap<string, readonly Pod[]> | undefined;
  return (name, pod) => {
    podsOn ??= podsByNode(pods);
    const there = podsOn.get(name) ?? [];
    const machine = machines.find(({ node }) => node?.metadata.name === name);
    if (machine === undefined || there.some(isTerminating)) return true;
    return hasRoomFor(machine, there, pod, requests);
  };
}

function hasRoomFor(machine: Machine, there: readonly Pod[], pod: Pod, requests: RequestsOfPods): boolean {
  const free = requests.amounts(machine.allocatable);
  for (const each of there)
    for (const [name, amount] of requests.of(each)) free.set(name, (free.get(name) ?? 0) - amount);
  for (const [name, amount] of requests.of(pod)) if (amount > (free.get(name) ?? 0)) return false;
  return !machine.leaving && toleratesAll(machine.taints, pod.spec?.tolerations ?? []);
}

/** The waiting pods and the movable pods of leaving machines, in queue order; unusable ones set aside with a reason. */
function* preparePods(
  snapshot: Snapshot,
  objects: ClusterObjects,
  machines: readonly Machine[],
  requestsOfPods: RequestsOfPods,
  variants: VariantContext,
  { isMovable, moving, ignoreDevices }: { isMovable: MovableTest; moving: boolean; ignoreDevices: boolean },
): Sliced<{ prepared: PreparedPod[]; rejected: RejectedPod[]; planned: Set<Pod> }> {
  const { table, rules } = variants;
  const volumeSupport = {
    unsupportedProvisioners: new Set(snapshot.provider?.unsupportedProvisioners),
    unsupportedTopologyKeys: new Set(snapshot.provider?.unsupportedTopologyKeys),
  };
  const validator = new PodValidator({ objects, rules, volumeSupport }, (pod) => wishedRequirements(variants, pod).set);
  const leaving = new Set(machines.filter((machine) => machine.leaving).map((machine) => machine.node?.metadata.name));
  const rejected: RejectedPod[] = [];
  const planned = new Set<Pod>();
  const candidates: QueuedPod[] = [];
  const kinds = new PodKinds();
  const standsNomination = nominationTest(objects.pods, machines, requestsOfPods);
  for (const [at, pod] of objects.pods.entries()) {
    if (at % podsAtOnce === 0) yield;
    const waits = isProvisionable(pod, standsNomination);
    const leaves = Boolean(pod.spec?.nodeName) && leaving.has(pod.spec?.nodeName);
    if (!waits && !(pod.spec?.nodeName && (leaves || moving) && isMovable(pod))) continue;
    if (waits && !isBufferPod(pod)) {
      const reason = validator.invalidity(pod);
      if (reason !== undefined) {
        rejected.push({ key: namespacedKey(pod.metadata), reason });
        continue;
      }
    }
    const requests = attempt(() => requestsOfPods.of(pod));
    if (requests.problem !== undefined) {
      const suggestion = 'write quantities such as 500m or 2Gi in its resources';
      if (waits) {
        const reason: Reason = { code: 'PodInvalid', message: requests.problem, suggestion };
        rejected.push({ key: namespacedKey(pod.metadata), reason });
      }
      continue;
    }
    if (waits || leaves) planned.add(pod);
    candidates.push(queuedPod(pod, kinds.kindOf(pod), requests.value));
  }

  const shapes = new PodShapes(variants);
  const volumeContext = { objects, table, rules };
  const prepared: PreparedPod[] = [];
  for (const { key, pod, kind, hasVolumes, requests } of yield* queueOrder(candidates)) {
    if (prepared.length % podsAtOnce === 0) yield;
    const volumes = hasVolumes ? volumeAlternatives(volumeContext, pod) : anywhere;
    if (volumes.kind === 'unreadable') {
      rejected.push({
        key,
        reason: {
          code: 'PodInvalid',
          message: volumes.message,
          suggestion: 'create the missing volume object, or remove the volume from the pod',
        },
      });
      continue;
    }
    const shape = shapes.shapeOf(kind, pod);
    prepared.push({
      key,
      pod,
      kind,
      requests,
      shape,
      devices: shape.needsDevices && !ignoreDevices ? podClaims(objects.resourceClaims, pod) : undefined,
      volumes: volumes.wishes,
      attachments: hasVolumes ? attachmentsOf(objects, pod) : noAttachments,
    });
  }
  rejected.sort((left, right) => (left.key < right.key ? -1 : 1));
  return { prepared, rejected, planned };
}

function reservationsOf(pools: readonly (readonly InstanceType[])[]): Map<string, number> {
  const reservations = new Map<string, number>();
  for (const types of pools) {
    for (const type of types) {
      for (const { reservationId, reservationCapacity } of type.reservedOfferings) {
        const known = reservations.get(reservationId) ?? Number.POSITIVE_INFINITY;
        reservations.set(reservationId, Math.min(known, reservationCapacity));
      }
    }
  }
  return reservations;
}
