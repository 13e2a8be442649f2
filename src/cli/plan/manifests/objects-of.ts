// From manifests as people write them to objects as a cluster would hold them: workloads become pods, claims appear,
// defaults are filled in, NodePools not yet judged count as ready.
import type { SnapshotObject } from '../../../core/index.ts';
import { claimsOfEphemeralVolumes, withDefaultStorageClass } from './claims.ts';
import { Admission, markWaiting } from './waiting-pods.ts';
import { expandWorkloads, isWorkload, selectorsOf } from './workloads.ts';

export interface ClusterObjects {
  objects: SnapshotObject[];
  notes: string[];
}

export function objectsOf(
  manifests: readonly SnapshotObject[],
  inCluster: readonly SnapshotObject[] = [],
): ClusterObjects {
  const around = [...inCluster, ...manifests];
  const admission = new Admission(around);
  const { pods, claims, notes } = expandWorkloads(manifests, inCluster);
  const objects: SnapshotObject[] = selectorsOf(manifests);
  const waiting: SnapshotObject[] = [];
  const unnamed = new Map<string, number>();
  const volumes = new Set(
    around.filter(({ kind }) => kind === 'PersistentVolume').map(({ metadata }) => metadata.name),
  );
  for (const manifest of manifests) {
    if (isWorkload(manifest.kind) || manifest.kind === 'LimitRange' || manifest.kind === 'RuntimeClass') continue;
    if (manifest.kind === 'NodePool') objects.push(markReady(manifest));
    else if (manifest.kind === 'Node') objects.push(withAllocatable(manifest));
    else if (manifest.kind === 'PersistentVolumeClaim') objects.push(boundIfNamed(manifest, volumes));
    else if (manifest.kind !== 'Pod') objects.push(manifest);
    else waiting.push(markWaiting(admission.admit(named(manifest, unnamed))));
  }
  for (const pod of pods) waiting.push(admission.admit(pod));
  objects.push(...waiting, ...newClaims([...claims, ...claimsOfEphemeralVolumes(waiting)], around));
  objects.push(...missingNamespaces(objects, around));
  return { objects: withDefaultStorageClass(objects), notes };
}

/** Pods made from `generateName` get numbers where a cluster would roll dice. */
function named(pod: SnapshotObject, unnamed: Map<string, number>): SnapshotObject {
  const metadata = pod.metadata as Partial<SnapshotObject['metadata']> & { generateName?: string };
  const namespace = metadata.namespace ?? 'default';
  let name = metadata.name;
  if (name === undefined) {
    const prefix = metadata.generateName ?? '';
    const count = (unnamed.get(`${namespace}/${prefix}`) ?? 0) + 1;
    unnamed.set(`${namespace}/${prefix}`, count);
    name = `${prefix}${count}`;
  }
  if (name === metadata.name && metadata.uid !== undefined) return pod;
  return { ...pod, metadata: { ...metadata, name, uid: metadata.uid ?? `${namespace}/Pod/${name}` } };
}

/** A NodePool that no controller has looked at yet counts as ready; what it says about itself, if anything, stands. */
export function markReady(pool: SnapshotObject): SnapshotObject {
  const status = pool['status'] as { conditions?: { type: string }[] } | undefined;
  if (status?.conditions?.some(({ type }) => type === 'Ready')) return pool;
  const conditions = [...(status?.conditions ?? []), { type: 'Ready', status: 'True', reason: 'Ready' }];
  return { ...pool, status: { ...status, conditions } };
}

/** A claim that names a volume which is there is what a cluster would have bound by now. */
function boundIfNamed(claim: SnapshotObject, volumes: ReadonlySet<string>): SnapshotObject {
  const { volumeName } = (claim['spec'] ?? {}) as { volumeName?: string };
  const status = claim['status'] as { phase?: string } | undefined;
  if (volumeName === undefined || !volumes.has(volumeName) || status?.phase !== undefined) return claim;
  const annotations = {
    'pv.kubernetes.io/bind-completed': 'yes',
    ...(claim.metadata['annotations'] as object | undefined),
  };
  return { ...claim, metadata: { ...claim.metadata, annotations }, status: { ...status, phase: 'Bound' } };
}

function withAllocatable(node: SnapshotObject): SnapshotObject {
  const status = node['status'] as { capacity?: object; allocatable?: object } | undefined;
  if (status?.capacity === undefined || status.allocatable !== undefined) return node;
  return { ...node, status: { ...status, allocatable: status.capacity } };
}

function newClaims(claims: readonly SnapshotObject[], around: readonly SnapshotObject[]): SnapshotObject[] {
  const known = new Set(around.filter(({ kind }) => kind === 'PersistentVolumeClaim').map(claimId));
  return claims.filter((claim) => !known.has(claimId(claim)));
}

function claimId({ metadata }: SnapshotObject): string {
  return `${metadata.namespace ?? 'default'}/${metadata.name}`;
}

/** Selectors over namespaces need the namespaces: every one in use exists, with the label Kubernetes gives it. */
function missingNamespaces(objects: readonly SnapshotObject[], around: readonly SnapshotObject[]): SnapshotObject[] {
  const known = new Set(around.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name));
  const missing = new Map<string, SnapshotObject>();
  for (const { metadata } of objects) {
    const name = metadata.namespace;
    if (name === undefined || known.has(name) || missing.has(name)) continue;
    const labels = { 'kubernetes.io/metadata.name': name };
    missing.set(name, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
  }
  return [...missing.values()];
}
