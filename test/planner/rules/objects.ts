// The parts of Kubernetes objects that the slow rules read, as they stand in a snapshot. Everything is optional unless the
// API server guarantees it.
import type { Operator, RequirementSpec } from '../../../src/core/index.ts';

export interface Meta {
  name: string;
  namespace?: string;
  uid?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  ownerReferences?: { apiVersion: string; kind: string; name: string; uid?: string }[];
}

export type Resources = Record<string, string | number>;

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
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

export interface SelectorTerm {
  matchExpressions?: { key: string; operator: Operator; values?: string[] }[];
  matchFields?: unknown[];
}

export interface PodTerm {
  labelSelector?: LabelSelector;
  topologyKey: string;
  namespaces?: string[];
  namespaceSelector?: LabelSelector;
}

export interface Spread {
  maxSkew: number;
  topologyKey: string;
  whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  labelSelector?: LabelSelector;
  minDomains?: number;
  nodeAffinityPolicy?: 'Honor' | 'Ignore';
  nodeTaintsPolicy?: 'Honor' | 'Ignore';
  matchLabelKeys?: string[];
}

interface Weighted<T> {
  weight: number;
  podAffinityTerm: T;
}

export interface PodAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: PodTerm[];
  preferredDuringSchedulingIgnoredDuringExecution?: Weighted<PodTerm>[];
}

export interface Affinity {
  nodeAffinity?: {
    requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms: SelectorTerm[] };
    preferredDuringSchedulingIgnoredDuringExecution?: { weight: number; preference: SelectorTerm }[];
  };
  podAffinity?: PodAffinity;
  podAntiAffinity?: PodAffinity;
}

export interface Container {
  name: string;
  image?: string;
  restartPolicy?: string;
  resources?: { requests?: Resources; limits?: Resources; claims?: unknown[] };
  ports?: { containerPort?: number; hostPort?: number; hostIP?: string; protocol?: string }[];
}

export interface Volume {
  name: string;
  persistentVolumeClaim?: { claimName: string };
  ephemeral?: { volumeClaimTemplate?: { spec?: { storageClassName?: string } } };
}

export interface PodSpec {
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  affinity?: Affinity;
  tolerations?: Toleration[];
  topologySpreadConstraints?: Spread[];
  containers: Container[];
  initContainers?: Container[];
  overhead?: Resources;
  resources?: { requests?: Resources; limits?: Resources };
  volumes?: Volume[];
  resourceClaims?: unknown[];
}

export interface Pod {
  metadata: Meta;
  spec: PodSpec;
  status?: {
    phase?: string;
    nominatedNodeName?: string;
    startTime?: string;
    conditions?: { type: string; status: string; reason?: string; lastTransitionTime?: string }[];
  };
}

export interface Node {
  metadata: Meta;
  spec?: { taints?: Taint[]; providerID?: string; unschedulable?: boolean };
  status?: { capacity?: Resources; allocatable?: Resources };
}

export interface NodeClaim {
  metadata: Meta;
  spec: { taints?: Taint[]; startupTaints?: Taint[]; requirements?: RequirementSpec[] };
  status?: { providerID?: string; nodeName?: string; capacity?: Resources; allocatable?: Resources };
}

export interface NodePool {
  metadata: Meta;
  spec: {
    weight?: number;
    replicas?: number;
    limits?: Resources;
    template: {
      metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
      spec: {
        taints?: Taint[];
        startupTaints?: Taint[];
        requirements: RequirementSpec[];
        nodeClassRef: { group: string; kind: string; name: string };
      };
    };
  };
  status?: { conditions?: { type: string; status: string }[] };
}

export interface DaemonSet {
  metadata: Meta;
  spec: { template: { metadata?: Partial<Meta>; spec: PodSpec } };
}

export interface DisruptionBudget {
  metadata: Meta;
  spec: { selector?: LabelSelector; minAvailable?: number | string; maxUnavailable?: number | string };
}

export interface VolumeClaim {
  metadata: Meta;
  spec: { storageClassName?: string; volumeName?: string };
  status?: { phase?: string };
}

export interface PersistentVolume {
  metadata: Meta;
  spec: {
    csi?: { driver: string };
    local?: unknown;
    hostPath?: unknown;
    nodeAffinity?: { required?: { nodeSelectorTerms: SelectorTerm[] } };
  };
}

export interface StorageClass {
  metadata: Meta;
  provisioner: string;
  volumeBindingMode?: string;
  allowedTopologies?: { matchLabelExpressions?: { key: string; values: string[] }[] }[];
}

export interface CSINode {
  metadata: Meta;
  spec: { drivers: { name: string; allocatable?: { count?: number } }[] };
}

export interface Namespace {
  metadata: Meta;
}

/** `namespace/name`, as plans write it. */
export function podKey(pod: Pod): string {
  return `${pod.metadata.namespace ?? 'default'}/${pod.metadata.name}`;
}
