// The snapshot's list of manifests, sorted by kind and indexed by name, so that the rest of the planner looks things up
// instead of searching. Objects keep no order of their own: every list is sorted by name, which makes the plan
// independent of the order in which the snapshot was written.

import { type Sliced, sortInSlices } from '../../base/index.ts';
import type { Snapshot, SnapshotObject } from '../snapshot.ts';
import { withDefaultSpread } from './default-spread.ts';
import type { DeviceClass, DeviceTaintRule, ResourceClaim, ResourceSlice } from './device-objects.ts';
import {
  type CSIDriver,
  type CSINode,
  type CSIStorageCapacity,
  type DaemonSet,
  keyOf,
  type Metadata,
  type Namespace,
  type Node,
  type NodeClaim,
  type NodePool,
  namespacedKey,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type PodDisruptionBudget,
  type StorageClass,
} from './objects.ts';

export interface ClusterObjects {
  readonly pods: readonly Pod[];
  readonly nodes: ReadonlyMap<string, Node>;
  readonly nodeClaims: ReadonlyMap<string, NodeClaim>;
  readonly nodePools: ReadonlyMap<string, NodePool>;
  readonly daemonSets: readonly DaemonSet[];
  readonly disruptionBudgets: readonly PodDisruptionBudget[];
  /** By `namespace/name`. */
  readonly volumeClaims: ReadonlyMap<string, PersistentVolumeClaim>;
  readonly volumes: ReadonlyMap<string, PersistentVolume>;
  readonly storageClasses: ReadonlyMap<string, StorageClass>;
  readonly csiNodes: ReadonlyMap<string, CSINode>;
  readonly csiDrivers: ReadonlyMap<string, CSIDriver>;
  readonly storageCapacities: readonly CSIStorageCapacity[];
  readonly namespaces: readonly Namespace[];
  readonly resourceSlices: readonly ResourceSlice[];
  /** By `namespace/name`. */
  readonly resourceClaims: ReadonlyMap<string, ResourceClaim>;
  readonly deviceClasses: ReadonlyMap<string, DeviceClass>;
  readonly deviceTaintRules: readonly DeviceTaintRule[];
}

/** Objects that are looked at between two yields. */
const objectsAtOnce = 4096;

export function* clusterObjects(snapshot: Snapshot): Sliced<ClusterObjects> {
  const byKind = new Map<string, SnapshotObject[]>();
  for (const [at, object] of snapshot.objects.items.entries()) {
    if (at % objectsAtOnce === 0) yield;
    const list = byKind.get(object.kind);
    if (list) list.push(object);
    else byKind.set(object.kind, [object]);
  }
  // Pods are ordered later, as the queue orders them; sorting a hundred thousand twice would be waste.
  const pods = (byKind.get('Pod') ?? []) as readonly Pod[];
  byKind.delete('Pod');
  for (const [kind, list] of byKind) byKind.set(kind, yield* sortedByKey(list));
  const listOf = <T extends { metadata: Metadata }>(kind: string): T[] => (byKind.get(kind) ?? []) as unknown as T[];
  // By name alone: these kinds have no namespace, whatever a hand-made manifest says.
  const mapOf = <T extends { metadata: Metadata }>(kind: string): Map<string, T> =>
    new Map(listOf<T>(kind).map((object) => [object.metadata.name, object]));
  const nodes = mapOf<Node>('Node');
  yield;
  const nodeClaims = mapOf<NodeClaim>('NodeClaim');
  yield;
  return {
    pods: withDefaultSpread(pods, snapshot, listOf),
    nodes,
    nodeClaims,
    nodePools: mapOf<NodePool>('NodePool'),
    daemonSets: listOf<DaemonSet>('DaemonSet'),
    disruptionBudgets: listOf<PodDisruptionBudget>('PodDisruptionBudget'),
    volumeClaims: new Map(
      listOf<PersistentVolumeClaim>('PersistentVolumeClaim').map((claim) => [namespacedKey(claim.metadata), claim]),
    ),
    volumes: mapOf<PersistentVolume>('PersistentVolume'),
    storageClasses: mapOf<StorageClass>('StorageClass'),
    csiNodes: mapOf<CSINode>('CSINode'),
    csiDrivers: mapOf<CSIDriver>('CSIDriver'),
    storageCapacities: listOf<CSIStorageCapacity>('CSIStorageCapacity'),
    namespaces: listOf<Namespace>('Namespace'),
    resourceSlices: listOf<ResourceSlice>('ResourceSlice'),
    resourceClaims: new Map(
      listOf<ResourceClaim>('ResourceClaim').map((claim) => [namespacedKey(claim.metadata), claim]),
    ),
    deviceClasses: mapOf<DeviceClass>('DeviceClass'),
    deviceTaintRules: listOf<DeviceTaintRule>('DeviceTaintRule'),
  };
}

function* sortedByKey(objects: readonly SnapshotObject[]): Sliced<SnapshotObject[]> {
  const keyed = objects.map((object) => ({ object, key: keyOf(object.metadata) }));
  const sorted = yield* sortInSlices(keyed, (left, right) =>
    left.key < right.key ? -1 : left.key > right.key ? 1 : 0,
  );
  return sorted.map(({ object }) => object);
}
