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
  /** Added to the type's capacity, resource by resource, in this offering. */
  capacityOverride?: ResourceQuantities;
  /** Added to the type's overhead in this offering. */
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

export interface SnapshotSettings {
  preferencePolicy?: 'Respect' | 'Ignore';
  minValuesPolicy?: 'Strict' | 'BestEffort';
  ignoreDRARequests?: boolean;
  maxInstanceTypes?: number;
  /** What a node costs beyond its price, in USD, when plans are compared; never part of a price that is printed. */
  nodeCostPerHour?: number;
  /** Of the schedules of disruption budgets; UTC by default. */
  budgetTimeZone?: string;
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
}

/** What a controller knows about one machine beyond the objects. */
export interface NodeStateEntry {
  node?: string;
  nodeClaim?: string;
  providerID?: string;
  initialized?: boolean;
  markedForDeletion?: boolean;
  nominated?: boolean;
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
  instanceTypes?: PoolInstanceTypes[];
}
