// The built-in Kubernetes resources we read or write, with the types of their objects. Our own kinds are described by
// src/api.
import type {
  DaemonSet as V1DaemonSet,
  Deployment as V1Deployment,
  ReplicaSet as V1ReplicaSet,
  StatefulSet as V1StatefulSet,
} from 'kubernetes-types/apps/v1.js';
import type { Lease as V1Lease } from 'kubernetes-types/coordination/v1.js';
import type {
  Namespace as V1Namespace,
  Node as V1Node,
  PersistentVolume as V1PersistentVolume,
  PersistentVolumeClaim as V1PersistentVolumeClaim,
  Pod as V1Pod,
  PodTemplate as V1PodTemplate,
} from 'kubernetes-types/core/v1.js';
import type { PodDisruptionBudget as V1PodDisruptionBudget } from 'kubernetes-types/policy/v1.js';
import type {
  CSINode as V1CSINode,
  StorageClass as V1StorageClass,
  VolumeAttachment as V1VolumeAttachment,
} from 'kubernetes-types/storage/v1.js';
import type { KubeObject, Resource } from './kube.ts';

/** The published type with metadata as every stored object has it. */
type Stored<T> = Omit<T, 'metadata' | 'apiVersion' | 'kind'> & KubeObject;

export type Pod = Stored<V1Pod>;
export type Node = Stored<V1Node>;
export type Namespace = Stored<V1Namespace>;
export type PodTemplate = Stored<V1PodTemplate>;
export type PersistentVolume = Stored<V1PersistentVolume>;
export type PersistentVolumeClaim = Stored<V1PersistentVolumeClaim>;
export type DaemonSet = Stored<V1DaemonSet>;
export type Deployment = Stored<V1Deployment>;
export type ReplicaSet = Stored<V1ReplicaSet>;
export type StatefulSet = Stored<V1StatefulSet>;
export type PodDisruptionBudget = Stored<V1PodDisruptionBudget>;
export type StorageClass = Stored<V1StorageClass>;
export type CSINode = Stored<V1CSINode>;
export type VolumeAttachment = Stored<V1VolumeAttachment>;
export type Lease = Stored<V1Lease>;

const describe =
  (group: string, version: string) =>
  <T extends KubeObject>(kind: string, plural: string, namespaced: boolean): Resource<T> => ({
    group,
    version,
    kind,
    plural,
    namespaced,
  });

const core = describe('', 'v1');
const apps = describe('apps', 'v1');
const storage = describe('storage.k8s.io', 'v1');
const devices = describe('resource.k8s.io', 'v1');

export const resources = {
  pods: core<Pod>('Pod', 'pods', true),
  nodes: core<Node>('Node', 'nodes', false),
  namespaces: core<Namespace>('Namespace', 'namespaces', false),
  podTemplates: core<PodTemplate>('PodTemplate', 'podtemplates', true),
  persistentVolumes: core<PersistentVolume>('PersistentVolume', 'persistentvolumes', false),
  persistentVolumeClaims: core<PersistentVolumeClaim>('PersistentVolumeClaim', 'persistentvolumeclaims', true),
  daemonSets: apps<DaemonSet>('DaemonSet', 'daemonsets', true),
  deployments: apps<Deployment>('Deployment', 'deployments', true),
  replicaSets: apps<ReplicaSet>('ReplicaSet', 'replicasets', true),
  services: core<KubeObject>('Service', 'services', true),
  replicationControllers: core<KubeObject>('ReplicationController', 'replicationcontrollers', true),
  statefulSets: apps<StatefulSet>('StatefulSet', 'statefulsets', true),
  podDisruptionBudgets: describe('policy', 'v1')<PodDisruptionBudget>(
    'PodDisruptionBudget',
    'poddisruptionbudgets',
    true,
  ),
  storageClasses: storage<StorageClass>('StorageClass', 'storageclasses', false),
  csiNodes: storage<CSINode>('CSINode', 'csinodes', false),
  csiDrivers: storage<KubeObject>('CSIDriver', 'csidrivers', false),
  csiStorageCapacities: storage<KubeObject>('CSIStorageCapacity', 'csistoragecapacities', true),
  volumeAttachments: storage<VolumeAttachment>('VolumeAttachment', 'volumeattachments', false),
  resourceSlices: devices<KubeObject>('ResourceSlice', 'resourceslices', false),
  resourceClaims: devices<KubeObject>('ResourceClaim', 'resourceclaims', true),
  deviceClasses: devices<KubeObject>('DeviceClass', 'deviceclasses', false),
  deviceTaintRules: devices<KubeObject>('DeviceTaintRule', 'devicetaintrules', false),
  leases: describe('coordination.k8s.io', 'v1')<Lease>('Lease', 'leases', true),
} as const;
