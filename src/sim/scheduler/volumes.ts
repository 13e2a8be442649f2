// What a pod's volumes say about nodes: volumes that exist somewhere, claims that wait for their first consumer, and how
// many volumes a node can attach.
//
// A claim of a class with WaitForFirstConsumer is bound in three moves: the scheduler picks a node and, if a volume that
// fits lies there, reserves it, else notes the node on the claim; whoever provides volumes binds the claim; then the pod
// is bound. This file makes the choice; scheduler.ts makes the moves.
import { compareQuantities, parseQuantity } from '../../base/index.ts';
import { selectorMatch } from '../../core/index.ts';
import type { CSINode, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../ports/index.ts';
import type { ClusterView, NodeRoom } from './cluster-view.ts';
import { matchesTerms } from './node-selector.ts';
import { type PodRefused, type Refused, refused } from './reasons.ts';
import type { RoomFilter } from './spread.ts';

/** The caches volumes are looked up in. */
export interface VolumeLookup {
  claim(key: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
  volumes(): Iterable<PersistentVolume>;
  storageClass(name: string): StorageClass | undefined;
  csiNode(name: string): CSINode | undefined;
}

export const selectedNodeAnnotation = 'volume.kubernetes.io/selected-node';
export const noProvisioner = 'kubernetes.io/no-provisioner';
const zoneLabels = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** The claims a pod's volumes name, those made for it included. */
export function claimNames(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [persistentVolumeClaim.claimName];
    return ephemeral === undefined ? [] : [`${pod.metadata.name}-${name}`];
  });
}

export const isBound = (claim: PersistentVolumeClaim): boolean => Boolean(claim.spec?.volumeName);

/** Undefined: the pod has no claims. */
export function volumeFilter(pod: Pod, view: ClusterView, lookup: VolumeLookup): RoomFilter | PodRefused | undefined {
  const names = claimNames(pod);
  if (names.length === 0) return undefined;
  const claims: PersistentVolumeClaim[] = [];
  for (const name of names) {
    const claim = lookup.claim(`${pod.metadata.namespace}/${name}`);
    if (claim === undefined) return { message: `persistentvolumeclaim "${name}" not found` };
    if (claim.metadata.deletionTimestamp !== undefined) {
      return { message: `persistentvolumeclaim "${name}" is being deleted` };
    }
    if (!isBound(claim) && !waitsForConsumer(claim, lookup)) {
      return { message: 'pod has unbound immediate PersistentVolumeClaims' };
    }
    claims.push(claim);
  }
  const inUse = exclusiveClaims(pod, claims);
  return (room) =>
    (inUse !== undefined && isUsedElsewhere(inUse, pod, view) ? refused.volumeInUse : undefined) ??
    attachRefusal(claims, room, lookup) ??
    claims.map((claim) => claimRefusal(claim, room, lookup)).find((refusal) => refusal !== undefined);
}

export function waitsForConsumer(claim: PersistentVolumeClaim, lookup: VolumeLookup): boolean {
  return lookup.storageClass(claim.spec?.storageClassName ?? '')?.volumeBindingMode === 'WaitForFirstConsumer';
}

function claimRefusal(claim: PersistentVolumeClaim, room: NodeRoom, lookup: VolumeLookup): Refused | undefined {
  if (isBound(claim)) {
    const volume = lookup.volume(claim.spec?.volumeName ?? '');
    if (volume === undefined) return refused.volumeMissing;
    if (!reaches(volume, room)) return refused.volumeAffinity;
    return hasZoneConflict(volume, room) ? refused.volumeZone : undefined;
  }
  const selected = claim.metadata.annotations?.[selectedNodeAnnotation];
  if (selected !== undefined) return selected === room.name ? undefined : refused.volumeBinding;
  if (matchingVolume(claim, room, lookup) !== undefined) return undefined;
  const storage = lookup.storageClass(claim.spec?.storageClassName ?? '');
  if (storage === undefined || storage.provisioner === noProvisioner) return refused.volumeBinding;
  return allowsTopology(storage, room) ? undefined : refused.volumeBinding;
}

/** The smallest free volume that fits the claim and can be used on the node. */
export function matchingVolume(
  claim: PersistentVolumeClaim,
  room: NodeRoom,
  lookup: VolumeLookup,
): PersistentVolume | undefined {
  const { storageClassName = '', accessModes = [], resources, selector, volumeMode = 'Filesystem' } = claim.spec ?? {};
  const wanted = parseQuantity(resources?.requests?.['storage'] ?? '0');
  const sizeOf = (volume: PersistentVolume) => parseQuantity(volume.spec?.capacity?.['storage'] ?? '0');
  let best: PersistentVolume | undefined;
  for (const volume of lookup.volumes()) {
    const { spec } = volume;
    if ((spec?.storageClassName ?? '') !== storageClassName || (spec?.volumeMode ?? 'Filesystem') !== volumeMode)
      continue;
    const { claimRef } = spec ?? {};
    const isMine =
      claimRef?.name === claim.metadata.name &&
      claimRef?.namespace === claim.metadata.namespace &&
      (claimRef?.uid === undefined || claimRef.uid === claim.metadata.uid);
    if (claimRef !== undefined && !isMine) continue;
    if (volume.metadata.deletionTimestamp !== undefined || !reaches(volume, room)) continue;
    if (isMine) return volume;
    if (!accessModes.every((mode) => spec?.accessModes?.includes(mode))) continue;
    if (selector !== undefined && !selectorMatch(selector as never)(volume.metadata.labels ?? {})) continue;
    if (compareQuantities(sizeOf(volume), wanted) < 0) continue;
    if (best === undefined || compareQuantities(sizeOf(volume), sizeOf(best)) < 0) best = volume;
  }
  return best;
}

function reaches(volume: PersistentVolume, room: NodeRoom): boolean {
  const terms = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms;
  return terms === undefined || matchesTerms(terms, room);
}

function hasZoneConflict(volume: PersistentVolume, room: NodeRoom): boolean {
  if (zoneLabels.every((key) => room.labels[key] === undefined)) return false;
  return zoneLabels.some((key) => {
    const zones = volume.metadata.labels?.[key]?.split('__');
    return zones !== undefined && !zones.includes(room.labels[key] ?? '');
  });
}

function allowsTopology({ allowedTopologies = [] }: StorageClass, room: NodeRoom): boolean {
  if (allowedTopologies.length === 0) return true;
  return allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => values.includes(room.labels[key] ?? '')),
  );
}

/** Keys of claims that only one pod at a time may use. */
function exclusiveClaims(pod: Pod, claims: readonly PersistentVolumeClaim[]): Set<string> | undefined {
  const exclusive = claims.filter(({ spec }) => spec?.accessModes?.includes('ReadWriteOncePod'));
  if (exclusive.length === 0) return undefined;
  return new Set(exclusive.map(({ metadata }) => `${pod.metadata.namespace}/${metadata.name}`));
}

function isUsedElsewhere(keys: ReadonlySet<string>, pod: Pod, view: ClusterView): boolean {
  for (const room of view.rooms.values()) {
    for (const { pod: other } of room.pods.values()) {
      if (other.metadata.uid === pod.metadata.uid) continue;
      if (claimNames(other).some((name) => keys.has(`${other.metadata.namespace}/${name}`))) return true;
    }
  }
  return false;
}

/** Volumes of one CSI driver that a node can attach; a volume two pods share counts once. */
function attachRefusal(
  claims: readonly PersistentVolumeClaim[],
  room: NodeRoom,
  lookup: VolumeLookup,
): Refused | undefined {
  const drivers = lookup.csiNode(room.name)?.spec?.drivers;
  if (drivers === undefined || drivers.length === 0) return undefined;
  const wanted = attachments(claims, lookup);
  if (wanted.size === 0) return undefined;
  const present = new Map<string, string>();
  for (const { pod } of room.pods.values()) {
    const others = claimNames(pod).flatMap((name) => lookup.claim(`${pod.metadata.namespace}/${name}`) ?? []);
    for (const [volume, driver] of attachments(others, lookup)) present.set(volume, driver);
  }
  for (const { name, allocatable } of drivers) {
    if (allocatable?.count === undefined) continue;
    const more = [...wanted].filter(([volume, driver]) => driver === name && !present.has(volume)).length;
    const there = [...present.values()].filter((driver) => driver === name).length;
    if (more > 0 && there + more > allocatable.count) return refused.volumeCount;
  }
  return undefined;
}

/** The driver of each volume, by the volume's handle or, while it has none, by its claim. */
function attachments(claims: readonly PersistentVolumeClaim[], lookup: VolumeLookup): Map<string, string> {
  const result = new Map<string, string>();
  for (const claim of claims) {
    if (isBound(claim)) {
      const csi = lookup.volume(claim.spec?.volumeName ?? '')?.spec?.csi;
      if (csi !== undefined) result.set(`${csi.driver} ${csi.volumeHandle}`, csi.driver);
      continue;
    }
    const provisioner = lookup.storageClass(claim.spec?.storageClassName ?? '')?.provisioner;
    if (provisioner !== undefined && provisioner !== noProvisioner) {
      result.set(`${provisioner} ${claim.metadata.namespace}/${claim.metadata.name}`, provisioner);
    }
  }
  return result;
}
