// The pods of one plan, compiled: sorted as the queue sorts them, and grouped so that pods the rules cannot tell apart
// share everything the planner knows about them. A group has one constraint per relaxation step; constraints are shared
// further, by groups that differ only in what they request.

import { type Sliced, sortInSlices } from '../base/index.ts';
import type { PodClaims } from './devices/pod-claims.ts';
import { type Labels, namespacedKey, namespaceOf, type Pod, type Toleration } from './kube/objects.ts';
import { type HostPort, hostPortsOf } from './pods/host-ports.ts';
import { hasResourceClaims } from './pods/pod-classes.ts';
import { type PodVariant, podVariants, type VariantContext } from './pods/pod-variants.ts';
import type { NodeWish } from './requirements/node-wish.ts';
import type { ResourceTable } from './resources/resource-table.ts';
import type { TopologyGroup } from './topology/topology-groups.ts';
import type { TopologyIndex } from './topology/topology-index.ts';
import { canChangeItsMind, type TopologyRules, topologyRules } from './topology/topology-rules.ts';
import type { Attachments } from './volumes/pod-volumes.ts';

/** What a pod asks for: resource columns and amounts, zeros left out. */
export interface Need {
  readonly id: number;
  readonly columns: readonly number[];
  readonly amounts: readonly number[];
  /** Columns that are asked for with nothing: no reason to refuse, but part of what a claim lists. */
  readonly zeros: readonly number[];
}

/** Everything but the requests that decides where a pod can go, at one step of relaxation. */
export interface Constraint {
  readonly id: number;
  readonly wish: NodeWish;
  readonly strict: NodeWish;
  readonly tolerations: readonly Toleration[];
  /** Numbers equal toleration lists, so that answers about taints can be shared. */
  readonly tolerationId: number;
  readonly rules: TopologyRules;
  /** Topology may refuse now and accept later. */
  readonly fickle: boolean;
  readonly volumes: readonly NodeWish[];
  readonly ports: readonly HostPort[];
  /** Says how it differs from the step before. */
  readonly change: PodVariant['change'];
}

export interface PodGroup {
  readonly id: number;
  readonly need: Need;
  readonly steps: readonly GroupStep[];
  readonly attachments: Attachments;
  readonly needsDevices: boolean;
  /** The claims its devices come from; undefined without any, and where devices are ignored. */
  readonly devices: PodClaims | undefined;
}

/** A group at one step of relaxation; numbered, because refusals are remembered per step. */
export interface GroupStep {
  readonly id: number;
  readonly constraint: Constraint;
}

export interface PlannedPod {
  readonly key: string;
  readonly pod: Pod;
  readonly group: PodGroup;
}

export interface Workload {
  /** In queue order. */
  readonly pods: readonly PlannedPod[];
  readonly groups: readonly PodGroup[];
  readonly constraintCount: number;
  readonly stepCount: number;
  readonly topology: TopologyIndex;
}

/** A pod ready to be grouped. */
export interface PreparedPod {
  readonly key: string;
  readonly pod: Pod;
  readonly kind: PodKind;
  readonly requests: ReadonlyMap<string, number>;
  readonly shape: PodShape;
  readonly volumes: readonly NodeWish[];
  readonly attachments: Attachments;
  readonly devices: PodClaims | undefined;
}

/** What equal pod specifications share. */
export interface PodShape {
  readonly id: number;
  readonly variants: readonly PodVariant[];
  readonly ownedInverse: readonly TopologyGroup[];
  readonly ports: readonly HostPort[];
  readonly needsDevices: boolean;
}

/** Stands for all pods whose specifications and labels the rules cannot tell apart. */
export interface PodKind {
  readonly specification: Specification;
  readonly namespace: string;
  readonly labels: Labels;
}

interface Specification {
  /** Made when the first of the pods is reached in the queue. */
  shape: PodShape | undefined;
}

/**
 * Sorts pods by what they say, in any order: reading every pod once, as they lie in memory, is much cheaper than coming
 * back to them in the order of the queue. What the first pod of a kind decides is left for the queue to find out.
 */
export class PodKinds {
  private readonly specifications = new Map<string, Specification>();
  private readonly kinds = new Map<string, Map<Specification, PodKind>>();

  kindOf(pod: Pod): PodKind {
    const specification = remembered(this.specifications, shapeIdentity(pod), () => ({ shape: undefined }));
    const labels = pod.metadata.labels ?? noLabels;
    const namespace = namespaceOf(pod);
    let identity = namespace;
    for (const key in labels) identity += `\n${key}=${labels[key]}`;
    const bySpecification = remembered(this.kinds, identity, () => new Map<Specification, PodKind>());
    return remembered(bySpecification, specification, () => ({ specification, namespace, labels }));
  }
}

export class PodShapes {
  private count = 0;
  private readonly context: VariantContext;

  constructor(context: VariantContext) {
    this.context = context;
  }

  shapeOf({ specification }: PodKind, pod: Pod): PodShape {
    specification.shape ??= this.newShape(pod);
    return specification.shape;
  }

  private newShape(pod: Pod): PodShape {
    const required = pod.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const { groups } = this.context;
    const inverse = required.map((term) => groups.affinity('antiAffinity', term, namespaceOf(pod), true));
    return {
      id: this.count++,
      variants: podVariants(this.context, pod),
      ownedInverse: [...new Set(inverse)],
      ports: hostPortsOf(pod),
      needsDevices: hasResourceClaims(pod),
    };
  }
}

/** Most pods say little about where they run: only what is there is written out. */
function shapeIdentity(pod: Pod): string {
  const { nodeSelector, affinity, tolerations, topologySpreadConstraints: spreads } = pod.spec ?? {};
  let identity = namespaceOf(pod);
  if (nodeSelector !== undefined) identity += `\nselector ${JSON.stringify(nodeSelector)}`;
  if (affinity !== undefined) identity += `\naffinity ${JSON.stringify(affinity)}`;
  if (tolerations !== undefined) identity += `\ntolerations ${JSON.stringify(tolerations)}`;
  if (spreads !== undefined && spreads !== null) {
    identity += `\nspreads ${JSON.stringify(spreads)}`;
    for (const { matchLabelKeys } of spreads) {
      for (const key of matchLabelKeys ?? []) identity += `\nrevision ${JSON.stringify(pod.metadata.labels?.[key])}`;
    }
  }
  const ports = hostPortsOf(pod);
  if (ports.length > 0) identity += `\nports ${JSON.stringify(ports)}`;
  return hasResourceClaims(pod) ? `${identity}\ndevices` : identity;
}

/** A pod with what its place in the queue depends on. */
export interface QueuedPod {
  readonly key: string;
  readonly pod: Pod;
  readonly kind: PodKind;
  readonly hasVolumes: boolean;
  readonly requests: ReadonlyMap<string, number>;
  readonly cpu: number;
  readonly memory: number;
  readonly created: string;
  readonly uid: string;
}

export function queuedPod(pod: Pod, kind: PodKind, requests: ReadonlyMap<string, number>): QueuedPod {
  return {
    key: namespacedKey(pod.metadata),
    pod,
    kind,
    hasVolumes: (pod.spec?.volumes?.length ?? 0) > 0,
    requests,
    cpu: requests.get('cpu') ?? 0,
    memory: requests.get('memory') ?? 0,
    created: pod.metadata.creationTimestamp ?? '',
    uid: pod.metadata.uid ?? '',
  };
}

/**
 * Largest first, so that small pods fill what large ones leave; then the oldest, then by uid. Sizes are few and pods
 * many, so pods are laid out by size first, and most lists come in order already.
 */
export function* queueOrder(pods: readonly QueuedPod[]): Sliced<QueuedPod[]> {
  const bySize = new Map<ReadonlyMap<string, number>, QueuedPod[]>();
  for (const [at, pod] of pods.entries()) {
    const list = bySize.get(pod.requests);
    if (list) list.push(pod);
    else bySize.set(pod.requests, [pod]);
    if (at % podsAtOnce === 0) yield;
  }
  const sizes = [...bySize.values()].sort(([left], [right]) => bySizeDescending(left as QueuedPod, right as QueuedPod));
  const ordered: QueuedPod[] = [];
  for (let at = 0; at < sizes.length; ) {
    // Pods that differ in other resources than these two stand in one line.
    const first = sizes[at]?.[0] as QueuedPod;
    const from = at;
    while (at < sizes.length && bySizeDescending(first, sizes[at]?.[0] as QueuedPod) === 0) at++;
    const line = sizes.slice(from, at).flat();
    for (const pod of isInOrder(line) ? line : yield* sortInSlices(line, byArrival)) ordered.push(pod);
    yield;
  }
  return ordered;
}

function bySizeDescending(left: QueuedPod, right: QueuedPod): number {
  return right.cpu - left.cpu || right.memory - left.memory;
}

function byArrival(left: QueuedPod, right: QueuedPod): number {
  return (
    compareText(left.created, right.created) || compareText(left.uid, right.uid) || compareText(left.key, right.key)
  );
}

function isInOrder(pods: readonly QueuedPod[]): boolean {
  for (let at = 1; at < pods.length; at++) {
    if (byArrival(pods[at - 1] as QueuedPod, pods[at] as QueuedPod) > 0) return false;
  }
  return true;
}

function compareText(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

/** Pods looked at between two yields: a few microseconds each. */
export const podsAtOnce = 32;

/** Groups pods that are already in queue order. */
export function* groupPods(
  prepared: readonly PreparedPod[],
  topology: TopologyIndex,
  resources: ResourceTable,
): Sliced<Workload> {
  const grouping = new Grouping(topology, resources);
  const pods: PlannedPod[] = [];
  for (const entry of prepared) {
    pods.push({ key: entry.key, pod: entry.pod, group: grouping.groupOf(entry) });
    if (pods.length % podsAtOnce === 0) yield;
  }
  return {
    pods,
    groups: grouping.groups,
    constraintCount: grouping.constraintCount,
    stepCount: grouping.stepCount,
    topology,
  };
}

/** Finds the group of a pod by identities of shared objects where it can, by text where it must. */
class Grouping {
  readonly groups: PodGroup[] = [];
  constraintCount = 0;
  stepCount = 0;
  private readonly topology: TopologyIndex;
  private readonly resources: ResourceTable;
  private readonly selecting = new Map<PodKind, readonly TopologyGroup[]>();
  private readonly needs = new Map<ReadonlyMap<string, number>, Need>();
  private readonly needsByText = new Map<string, Need>();
  private readonly plain = new Map<PodShape, Map<readonly TopologyGroup[], readonly Constraint[]>>();
  private readonly withVolumes = new Map<string, readonly Constraint[]>();
  private readonly groupsOf = new Map<readonly Constraint[], Map<Need, PodGroup>>();
  private readonly withAttachments = new Map<string, PodGroup>();
  private readonly tolerationIds = new Map<string, number>();

  constructor(topology: TopologyIndex, resources: ResourceTable) {
    this.topology = topology;
    this.resources = resources;
  }

  groupOf({ kind, requests, shape, volumes, attachments, devices }: PreparedPod): PodGroup {
    const need = this.needOf(requests);
    const selecting = remembered(this.selecting, kind, () => this.topology.selecting(kind.namespace, kind.labels));
    const constraints = this.constraintsOf(shape, selecting, volumes);
    if (attachments.size > 0 || devices !== undefined) {
      const claims = [...attachments].map(([driver, names]) => [driver, [...names]]);
      const identity = `${constraints[0]?.id}#${need.id}#${JSON.stringify([claims, devices])}`;
      return remembered(this.withAttachments, identity, () => {
        return this.newGroup(constraints, need, attachments, shape, devices);
      });
    }
    const byNeed = remembered(this.groupsOf, constraints, () => new Map<Need, PodGroup>());
    return remembered(byNeed, need, () => this.newGroup(constraints, need, attachments, shape));
  }

  private newGroup(
    constraints: readonly Constraint[],
    need: Need,
    attachments: Attachments,
    shape: PodShape,
    devices?: PodClaims,
  ): PodGroup {
    const steps = constraints.map((constraint) => ({ id: this.stepCount++, constraint }));
    const group = { id: this.groups.length, need, steps, attachments, needsDevices: shape.needsDevices, devices };
    this.groups.push(group);
    return group;
  }

  private needOf(requests: ReadonlyMap<string, number>): Need {
    return remembered(this.needs, requests, () => {
      const entries = [...requests].sort();
      return remembered(this.needsByText, JSON.stringify(entries), () => {
        const some = entries.filter(([, amount]) => amount !== 0);
        return {
          id: this.needsByText.size,
          columns: some.map(([name]) => this.resources.column(name)),
          amounts: some.map(([, amount]) => amount),
          zeros: entries.filter(([, amount]) => amount === 0).map(([name]) => this.resources.column(name)),
        };
      });
    });
  }

  private constraintsOf(
    shape: PodShape,
    selecting: readonly TopologyGroup[],
    volumes: readonly NodeWish[],
  ): readonly Constraint[] {
    if (volumes.length > 0) {
      const identity = `${shape.id}|${selecting.map((group) => group.id).join()}|${volumes.map((wish) => wish.identity).join()}`;
      return remembered(this.withVolumes, identity, () => this.newConstraints(shape, selecting, volumes));
    }
    const bySelection = remembered(this.plain, shape, () => new Map<readonly TopologyGroup[], readonly Constraint[]>());
    return remembered(bySelection, selecting, () => this.newConstraints(shape, selecting, volumes));
  }

  private newConstraints(
    shape: PodShape,
    selecting: readonly TopologyGroup[],
    volumes: readonly NodeWish[],
  ): readonly Constraint[] {
    return shape.variants.map((variant) => {
      const rules = topologyRules(this.topology, variant.strict, variant.owned, selecting, shape.ownedInverse);
      return {
        id: this.constraintCount++,
        wish: variant.wish,
        strict: variant.strict,
        tolerations: variant.tolerations,
        tolerationId: remembered(
          this.tolerationIds,
          JSON.stringify(variant.tolerations),
          () => this.tolerationIds.size,
        ),
        rules,
        fickle: canChangeItsMind(rules),
        volumes,
        ports: shape.ports,
        change: variant.change,
      };
    });
  }
}

const noLabels: Labels = {};

/** The value for the key, made when it is first asked for. */
function remembered<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
