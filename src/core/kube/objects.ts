// The parts of Kubernetes objects the planner reads, as the API server writes them. Everything is optional because
// manifests are; the planner never writes into them.

import { objectKey } from '../../base/index.ts';
import type { Operator, RequirementSpec, ResourceQuantities } from '../snapshot.ts';

export type Labels = Readonly<Record<string, string>>;

export interface OwnerReference {
  apiVersion?: string;
  kind?: string;
  name?: string;
  uid?: string;
  controller?: boolean;
}

export interface Metadata {
  name: string;
  namespace?: string;
  uid?: string;
  labels?: Labels;
  annotations?: Labels;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  ownerReferences?: OwnerReference[];
}

export interface Condition {
  type?: string;
  status?: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface Taint {
  key: string;
  value?: string;
  effect: string;
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
}

export interface LabelSelector {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: Operator; values?: string[] }[];
}

export interface NodeSelectorTerm {
  matchExpressions?: RequirementSpec[];
  matchFields?: RequirementSpec[];
}

export interface PodAffinityTerm {
  topologyKey: string;
  labelSelector?: LabelSelector;
  namespaces?: string[];
  namespaceSelector?: LabelSelector;
  matchLabelKeys?: string[];
  mismatchLabelKeys?: string[];
}

export interface PodAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[];
  preferredDuringSchedulingIgnoredDuringExecution?: { weight?: number; podAffinityTerm: PodAffinityTerm }[];
}

export interface Affinity {
  nodeAffinity?: {
    requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: NodeSelectorTerm[] };
    preferredDuringSchedulingIgnoredDuringExecution?: { weight?: number; preference?: NodeSelectorTerm }[];
  };
  podAffinity?: PodAffinity;
  podAntiAffinity?: PodAffinity;
}

export interface TopologySpreadConstraint {
  topologyKey: string;
  maxSkew?: number;
  minDomains?: number;
  whenUnsatisfiable?: string;
  labelSelector?: LabelSelector;
  matchLabelKeys?: string[];
  nodeAffinityPolicy?: string;
  nodeTaintsPolicy?: string;
}

export interface ResourceRequirements {
  requests?: ResourceQuantities;
  limits?: ResourceQuantities;
  claims?: unknown[];
}

export interface Container {
  name?: string;
  restartPolicy?: string;
  resources?: ResourceRequirements;
  ports?: { hostPort?: number; hostIP?: string; protocol?: string }[];
}

export interface Volume {
  name: string;
  persistentVolumeClaim?: { claimName: string };
  ephemeral?: unknown;
}

export interface ContainerStatus {
  name?: string;
  allocatedResources?: ResourceQuantities;
  resources?: ResourceRequirements;
}

export interface PodSpec {
  nodeName?: string;
  priority?: number;
  nodeSelector?: Labels;
  affinity?: Affinity;
  tolerations?: Toleration[];
  topologySpreadConstraints?: TopologySpreadConstraint[];
  containers?: Container[];
  initContainers?: Container[];
  overhead?: ResourceQuantities;
  resources?: ResourceRequirements;
  volumes?: Volume[];
  resourceClaims?: { name?: string; resourceClaimName?: string; resourceClaimTemplateName?: string }[];
}

export interface Pod {
  metadata: Metadata;
  spec?: PodSpec;
  status?: {
    phase?: string;
    startTime?: string;
    nominatedNodeName?: string;
    resourceClaimStatuses?: { name?: string; resourceClaimName?: string }[];
    conditions?: Condition[];
    containerStatuses?: ContainerStatus[];
    initContainerStatuses?: ContainerStatus[];
    /** Of the pod as a whole, where it asks for resources as a whole. */
    allocatedResources?: ResourceQuantities;
    resources?: ResourceRequirements;
  };
}

export interface Node {
  metadata: Metadata;
  spec?: { taints?: Taint[]; providerID?: string };
  status?: { capacity?: ResourceQuantities; allocatable?: ResourceQuantities; conditions?: Condition[] };
}

export interface NodeClaim {
  metadata: Metadata;
  spec?: {
    taints?: Taint[];
    startupTaints?: Taint[];
    expireAfter?: string;
    terminationGracePeriod?: string;
    nodeClassRef?: { group?: string; kind?: string; name?: string };
  };
  status?: {
    providerID?: string;
    lastPodEventTime?: string;
    capacity?: ResourceQuantities;
    allocatable?: ResourceQuantities;
    conditions?: Condition[];
  };
}

/** How many nodes of a pool may be disrupted at once, for which reasons and when. */
export interface DisruptionBudget {
  /** A number only in files written by hand. */
  nodes?: string | number;
  reasons?: string[];
  schedule?: string;
  duration?: string;
}

export interface NodePool {
  metadata: Metadata;
  spec?: {
    weight?: number;
    replicas?: number;
    limits?: ResourceQuantities;
    disruption?: {
      consolidateAfter?: string;
      consolidationPolicy?: string;
      budgets?: DisruptionBudget[];
    };
    template?: {
      metadata?: { labels?: Labels; annotations?: Labels };
      spec?: {
        taints?: Taint[];
        startupTaints?: Taint[];
        requirements?: RequirementSpec[];
        expireAfter?: string;
        terminationGracePeriod?: string;
        nodeClassRef?: { group?: string; kind?: string; name?: string };
      };
    };
  };
  status?: { conditions?: Condition[] };
}

export interface DaemonSet {
  metadata: Metadata;
  spec?: { template?: { metadata?: Partial<Metadata>; spec?: PodSpec } };
}

export interface PodDisruptionBudget {
  metadata: Metadata;
  spec?: {
    selector?: LabelSelector;
    maxUnavailable?: number | string;
    minAvailable?: number | string;
    unhealthyPodEvictionPolicy?: string;
  };
  status?: { disruptionsAllowed?: number };
}

export interface PersistentVolumeClaim {
  metadata: Metadata;
  spec?: {
    volumeName?: string;
    storageClassName?: string;
    resources?: { requests?: ResourceQuantities };
  };
  status?: { phase?: string };
}

export interface PersistentVolume {
  metadata: Metadata;
  spec?: {
    nodeAffinity?: { required?: { nodeSelectorTerms?: NodeSelectorTerm[] } };
    local?: unknown;
    hostPath?: unknown;
    csi?: { driver?: string };
    awsElasticBlockStore?: unknown;
  };
}

export interface StorageClass {
  metadata: Metadata;
  provisioner?: string;
  volumeBindingMode?: string;
  allowedTopologies?: { matchLabelExpressions?: { key: string; values?: string[] }[] }[];
}

export interface CSINode {
  metadata: Metadata;
  spec?: { drivers?: { name: string; allocatable?: { count?: number } }[] };
}

export interface CSIDriver {
  metadata: Metadata;
  spec?: { storageCapacity?: boolean; preventPodSchedulingIfMissing?: boolean };
}

/** Room for volumes of a storage class on the nodes that the selector selects; without selector, on none. */
export interface CSIStorageCapacity {
  metadata: Metadata;
  storageClassName?: string;
  nodeTopology?: LabelSelector | null;
  capacity?: string | number;
  maximumVolumeSize?: string | number;
}

export interface Namespace {
  metadata: Metadata;
}

/** `namespace/name`, or the name alone for what has no namespace. */
export function keyOf(metadata: Metadata): string {
  return objectKey(metadata.namespace, metadata.name);
}

/** `namespace/name` of an object that always has a namespace; not written means default. */
export function namespacedKey(metadata: Metadata): string {
  return objectKey(metadata.namespace || 'default', metadata.name);
}

export function namespaceOf(pod: Pod): string {
  return pod.metadata.namespace || 'default';
}

export function conditionIsTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}
