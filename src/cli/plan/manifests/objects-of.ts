// From manifests as people write them to objects as a cluster would hold them: workloads become pods, claims appear,
// defaults are filled in, NodePools nobody has judged yet count as ready.
import type { SnapshotObject } from '../../../core/index.ts';
import { claimsOfEphemeralVolumes, withDefaultStorageClass } from './claims.ts';
import { Admission, markWaiting } from './waiting-pods.ts';
import { expandWorkloads, isWorkload } from './workloads.ts';

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
  const { pods, claims, notes } = expandWorkloads(around);
  const objects: SnapshotObject[] = [];
  const waiting: SnapshotObject[] = [];
  const unnamed = new Map<string, number>();
  for (const manifest of manifests) {
    if (isWorkload(manifest.kind) || manifest.kind === 'LimitRange' || manifest.kind === 'RuntimeClass') continue;
    if (manifest.kind === 'NodePool') objects.push(markReady(manifest));
    else if (manifest.kind === 'Node') objects.push(withAllocatable(manifest));
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

/** A NodePool from a file has been judged by nobody; what it says about itself, if anything, stands. */
function markReady(pool: SnapshotObject): SnapshotObject {
  const status = pool['status'] as { conditions?: { type: string }[] } | undefined;
  if (status?.conditions?.some(({ type }) => type === 'Ready')) return pool;
  const conditions = [...(status?.conditions ?? []), { type: 'Ready', status: 'True', reason: 'Ready' }];
  return { ...pool, status: { ...status, conditions } };
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
