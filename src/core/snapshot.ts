// The snapshot: everything a decision looks at, as plain data. It is the documented input of `kerf plan` (docs/reference/plan-format.md) and
// what the controller hands to the planner. Objects are raw Kubernetes manifests; the planner draws its own conclusions.

import type { CounterSet, SliceDevice } from './kube/device-objects.ts';

export type Operator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt' | 'Gte' | 'Lte';

export interface RequirementSpec {
  key: string;
  operator: Operator;
  values?: string[];
  minValues?: number;
}

/** Resource name to Kubernetes quantity. */
export type ResourceQuantities = Record<string, string | number>;

export interface Overhead {
  kubeReserved?: ResourceQuantities;
  systemReserved?: ResourceQuantities;
  evictionThreshold?: ResourceQuantities;
}

export interface OfferingSpec {
  /** Zone, capacity type, reservation id, … */
  requirements: RequirementSpec[];
  /** USD per hour. */
  price: number;
  available: boolean;
  reservationCapacity?: number;
  /** Replaces the type's capacity, resource by resource, in this offering. */
  capacityOverride?: ResourceQuantities;
  /** Replaces the type's overhead of the resources it names in this offering. */
  overheadOverride?: Overhead;
  priceOverlayApplied?: boolean;
}

export interface InstanceTypeSpec {
  name: string;
  /** Labels a node of this type can have. */
  requirements: RequirementSpec[];
  capacity: ResourceQuantities;
  overhead?: Overhead;
  capacityOverlayApplied?: boolean;
  /** Most volumes of each CSI driver on a new node; a driver that is not listed has no limit. */
  volumeAttachmentLimits?: Record<string, number>;
  /** The devices its nodes bring. */
  dynamicResources?: DynamicResources;
  offerings: OfferingSpec[];
}

/** What drivers are expected to publish once a node of the type runs. */
export interface DynamicResources {
  resourceSliceTemplates?: ResourceSliceTemplate[];
  attributeBindings?: AttributeBinding[];
}

/** A ResourceSlice to come; its devices are the node's own. */
export interface ResourceSliceTemplate {
  driver: string;
  pool: { name: string };
  devices?: SliceDevice[];
  sharedCounters?: CounterSet[];
}

/** Devices that will have the same value of an attribute, whatever it turns out to be. */
export interface AttributeBinding {
  attribute: string;
  devices: { driver: string; pool: string; device: string }[];
}

/** What the provider offers to one NodePool; with `error`, the pool is unusable in this decision. */
export interface PoolInstanceTypes {
  nodePool: string;
  error?: string;
  items?: InstanceTypeSpec[];
}

/** As in `podTopologySpread.defaultConstraints` of kube-scheduler's configuration. */
export interface DefaultSpreadConstraint {
  maxSkew: number;
  topologyKey: string;
  whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  minDomains?: number;
  nodeAffinityPolicy?: string;
  nodeTaintsPolicy?: string;
}

export interface SnapshotSettings {
  preferencePolicy?: 'Respect' | 'Ignore';
  minValuesPolicy?: 'Strict' | 'BestEffort';
  ignoreDRARequests?: boolean;
  maxInstanceTypes?: number;
  /** What a node costs beyond its price, in USD, when plans are compared; never part of a price that is printed. */
  nodeCostPerHour?: number;
  /** Of the schedules of disruption budgets; UTC by default. */
  budgetTimeZone?: string;
  /** Spread of pods that declare none, as kube-scheduler is configured: without selectors, which follow from their owners. */
  defaultTopologySpreadConstraints?: DefaultSpreadConstraint[];
  /** A replacement must earn its cost within this time; by default none is asked for. */
  consolidationPaybackSeconds?: number;
  featureGates?: Record<string, boolean>;
}

/** What a cloud provider registers with the planner. */
export interface ProviderFacts {
  /** `Kind.group` of the node classes it serves. */
  nodeClasses: string[];
  wellKnownLabels: string[];
  restrictedLabels?: string[];
  restrictedLabelDomains?: string[];
  normalizedLabels?: Record<string, string>;
  normalizedLabelValues?: Record<string, Record<string, string>>;
  reservationIDLabel?: string;
  reservedCapacityLabels?: string[];
  unsupportedProvisioners?: string[];
  unsupportedTopologyKeys?: string[];
  /** When nodes count as broken; present where their repair is a disruption method. */
  repairPolicies?: readonly RepairPolicy[];
}

export type RepairAction = 'ReplaceNode' | 'RebootNode';

/** A node condition that means the machine is broken, how long it is borne, and what is done about it. */
export interface RepairPolicy {
  conditionType: string;
  conditionStatus: 'True' | 'False' | 'Unknown';
  /** Of the RE2 kind; absent or empty, the policy is for every reason that no other policy of the condition names. */
  reasonRegex?: string;
  tolerationMs: number;
  /** How long pods may take to leave; absent, what the NodeClaim says, zero, no time at all. */
  terminationGracePeriodMs?: number;
  /** 0 to 100; the higher is repaired first. */
  priority?: number;
  /** ReplaceNode if absent. */
  action?: RepairAction;
}

/** What a controller knows about one machine beyond the objects. */
export interface NodeStateEntry {
  node?: string;
  nodeClaim?: string;
  providerID?: string;
  initialized?: boolean;
  markedForDeletion?: boolean;
  nominated?: boolean;
  /** `Type=Status` of conditions that come and go, and since when, RFC 3339. */
  unhealthySince?: Record<string, string>;
}

/** What a controller knows about one NodePool beyond the object. */
export interface PoolStateEntry {
  nodePool: string;
  /** RFC 3339: until then it gets no new nodes, because launches keep failing. */
  pausedUntil?: string;
  pausedBecause?: { code?: string; message?: string };
  /** What counts against its limits, `nodes` included, launches under way too; what is not listed is added up from machines. */
  inUse?: ResourceQuantities;
}

/** What could not be launched lately; it counts as unavailable. */
export interface FailedOffering {
  instanceType: string;
  zone: string;
  capacityType: string;
  /** RFC 3339: it may be tried again after that. Without it, not in this decision. */
  until?: string;
  reason?: string;
}

export interface SnapshotObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; uid?: string; [field: string]: unknown };
  [field: string]: unknown;
}

export interface Snapshot {
  apiVersion: 'kerf/v1';
  kind: 'Snapshot';
  name?: string;
  /** RFC 3339: the clock of the decision. */
  time?: string;
  settings?: SnapshotSettings;
  provider?: ProviderFacts;
  objects: { apiVersion: 'v1'; kind: 'List'; items: SnapshotObject[] };
  nodeState?: NodeStateEntry[];
  poolState?: PoolStateEntry[];
  failedOfferings?: FailedOffering[];
  instanceTypes?: PoolInstanceTypes[];
}
