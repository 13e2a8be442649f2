// One pod, one rule: whether the planner gives the pod a node that exists, and whether a real kube-scheduler binds it there.
import type { SnapshotObject, SnapshotSettings } from '../../../src/core/index.ts';
import { node, nodePool, plan, pod } from '../../../src/core/testing/builders.testing.ts';
import type { ControlPlane } from '../../setup/control-plane.ts';

export type Fields = Record<string, unknown>;

export interface Case {
  what: string;
  objects: SnapshotObject[];
  /** Its name is `asking`. */
  asking: SnapshotObject;
  fits: boolean;
  settings?: SnapshotSettings;
}

const devices = '/apis/resource.k8s.io/v1';
const storage = '/apis/storage.k8s.io/v1';
export const listOf: Record<string, string> = {
  Node: '/api/v1/nodes',
  Pod: '/api/v1/namespaces/default/pods',
  Service: '/api/v1/namespaces/default/services',
  PersistentVolume: '/api/v1/persistentvolumes',
  PersistentVolumeClaim: '/api/v1/namespaces/default/persistentvolumeclaims',
  StorageClass: `${storage}/storageclasses`,
  CSINode: `${storage}/csinodes`,
  CSIDriver: `${storage}/csidrivers`,
  CSIStorageCapacity: `${storage}/namespaces/default/csistoragecapacities`,
  ResourceClaim: `${devices}/namespaces/default/resourceclaims`,
  DeviceClass: `${devices}/deviceclasses`,
  ResourceSlice: `${devices}/resourceslices`,
  DeviceTaintRule: `${devices}/devicetaintrules`,
};
export const merge = 'application/merge-patch+json';

/** New nodes do not have it: the pod goes to the node or nowhere. */
export const place = 'example.com/place';
export const placed = (name: string, more: Parameters<typeof node>[0] = {}): SnapshotObject =>
  node({ name, labels: { [place]: name }, ...more });
export const pinned = (name: string, parts: { spec?: Fields } = {}): SnapshotObject =>
  pod({ name: 'asking', ...parts, cpu: '100m', spec: { nodeSelector: { [place]: name }, ...parts.spec } });

/** Nothing of an earlier case is left. */
export async function clear(cluster: ControlPlane): Promise<void> {
  for (const [kind, path] of Object.entries(listOf)) {
    if (kind === 'Service') continue;
    await cluster.request('DELETE', path, { gracePeriodSeconds: 0 });
    // Claims stay until whoever allocated them lets go; here that is no one.
    if (kind !== 'ResourceClaim') continue;
    const { body } = await cluster.request('GET', path);
    for (const { metadata } of (body as { items?: SnapshotObject[] }).items ?? [])
      await cluster.request('PATCH', `${path}/${metadata.name}`, { metadata: { finalizers: null } }, merge);
  }
}

export async function create(cluster: ControlPlane, item: SnapshotObject): Promise<void> {
  const { status, ...rest } = item as SnapshotObject & { status?: Fields };
  const { uid: _uid, creationTimestamp: _created, ...metadata } = item.metadata as Fields;
  const path = listOf[item.kind] ?? '';
  const written = { ...rest, metadata, ...(item.kind === 'Node' ? { status: ready(status) } : {}) };
  const answer = await cluster.request('POST', path, written);
  if (answer.status !== 201 && answer.status !== 409) throw new Error(JSON.stringify(answer.body).slice(0, 500));
  // What a pod that waits is said to be is up to the scheduler.
  const isRunning = item.kind === 'Pod' && (rest as { spec?: Fields }).spec?.['nodeName'] !== undefined;
  const hasOwnStatus = item.kind.startsWith('PersistentVolume') || isRunning;
  if (hasOwnStatus && status !== undefined)
    await cluster.request('PATCH', `${path}/${item.metadata.name}/status`, { status }, merge);
}

const ready = (status: Fields | undefined): Fields => ({ ...status, conditions: [{ type: 'Ready', status: 'True' }] });

/** It may hear of the pod before it hears of what the pod asks for, and tries again when it does. */
const secondThoughtsMs = 1_500;

/** Whether the scheduler binds the pod. */
async function bound(cluster: ControlPlane, item: SnapshotObject): Promise<boolean> {
  const path = `${listOf['Pod']}/${item.metadata.name}`;
  let refusedMs: number | undefined;
  for (const startedMs = performance.now(); ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const { body } = await cluster.request('GET', path);
    const { spec, status } = body as { spec: Fields; status?: { conditions?: { type: string; reason?: string }[] } };
    if (spec['nodeName']) return true;
    const nowMs = performance.now();
    if (status?.conditions?.some(({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable'))
      refusedMs ??= nowMs;
    if (refusedMs !== undefined && nowMs - refusedMs > secondThoughtsMs) return false;
    if (nowMs - startedMs > 20_000) throw new Error(`no word about ${item.metadata.name}`);
  }
}

/** A claim that waits for its first pod is provisioned after the choice of a node, which the annotation shows. */
async function chosenForClaim(cluster: ControlPlane): Promise<boolean> {
  const path = `${listOf['PersistentVolumeClaim']}/wanted`;
  for (const startedMs = performance.now(); performance.now() - startedMs < 20_000; ) {
    const { body } = await cluster.request('GET', path);
    const { annotations = {} } = (body as { metadata: { annotations?: Record<string, string> } }).metadata;
    if (annotations['volume.kubernetes.io/selected-node'] === 'n') return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

/** What both say: whether the pod goes to a node that exists. */
export async function verdicts(
  cluster: ControlPlane,
  { objects, asking, fits, settings = {} }: Case,
): Promise<{ planner: boolean; scheduler: boolean }> {
  for (const item of [...objects, asking]) await create(cluster, item);
  const { existingNodes } = plan([nodePool(), ...objects, asking], { settings });
  const waits = JSON.stringify(objects).includes('WaitForFirstConsumer') && fits;
  return {
    planner: existingNodes.some(({ pods }) => pods.includes('default/asking')),
    scheduler: waits ? await chosenForClaim(cluster) : await bound(cluster, asking),
  };
}
