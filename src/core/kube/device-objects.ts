// The parts of dynamic resource allocation's objects (resource.k8s.io/v1) that planning reads, as the API server writes
// them. Everything is optional because manifests are.

import type { Metadata, NodeSelectorTerm } from './objects.ts';

export interface NodeSelector {
  nodeSelectorTerms?: NodeSelectorTerm[];
}

export interface DeviceAttribute {
  int?: number;
  bool?: boolean;
  string?: string;
  version?: string;
}

export interface DeviceCapacity {
  value: string | number;
  requestPolicy?: {
    default?: string | number;
    validValues?: (string | number)[];
    validRange?: { min?: string | number; max?: string | number; step?: string | number };
  };
}

export type Counters = Readonly<Record<string, { value: string | number }>>;

/** What devices of a pool share. */
export interface CounterSet {
  name: string;
  counters?: Counters;
}

/** Where a device can be used; on a slice it holds for all its devices, unless they say so themselves. */
export interface NodeReach {
  nodeName?: string;
  allNodes?: boolean;
  nodeSelector?: NodeSelector;
}

/** NoSchedule and NoExecute keep requests away that do not tolerate it; other effects only inform. */
export interface DeviceTaint {
  key?: string;
  value?: string;
  effect?: string;
}

export interface DeviceToleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
}

/** Taints all devices that have everything it names. */
export interface DeviceTaintRule {
  metadata: Metadata;
  spec?: { deviceSelector?: { driver?: string; pool?: string; device?: string }; taint?: DeviceTaint };
}

export interface SliceDevice extends NodeReach {
  name: string;
  taints?: DeviceTaint[];
  attributes?: Readonly<Record<string, DeviceAttribute>>;
  capacity?: Readonly<Record<string, DeviceCapacity>>;
  allowMultipleAllocations?: boolean;
  consumesCounters?: { counterSet: string; counters?: Counters }[];
}

export interface ResourceSlice {
  metadata: Metadata;
  spec?: NodeReach & {
    driver?: string;
    pool?: { name?: string; generation?: number; resourceSliceCount?: number };
    perDeviceNodeSelection?: boolean;
    devices?: SliceDevice[];
    sharedCounters?: CounterSet[];
  };
}

export interface DeviceSelectorSpec {
  cel?: { expression?: string };
}

export interface DeviceClass {
  metadata: Metadata;
  spec?: {
    selectors?: DeviceSelectorSpec[];
    /** Pods that ask for this resource get devices of the class. */
    extendedResourceName?: string;
  };
}

export interface ExactRequest {
  deviceClassName?: string;
  selectors?: DeviceSelectorSpec[];
  allocationMode?: string;
  count?: number;
  adminAccess?: boolean;
  tolerations?: DeviceToleration[];
  capacity?: { requests?: Readonly<Record<string, string | number>> };
}

export interface ClaimRequest {
  name: string;
  exactly?: ExactRequest;
  /** Alternatives, the first wanted most. */
  firstAvailable?: (ExactRequest & { name: string })[];
}

export interface ClaimConstraint {
  requests?: string[];
  matchAttribute?: string;
  distinctAttribute?: string;
}

export interface AllocatedDevice {
  driver?: string;
  pool?: string;
  device?: string;
  adminAccess?: boolean;
  consumedCapacity?: Readonly<Record<string, string | number>>;
}

export interface ResourceClaim {
  metadata: Metadata;
  spec?: { devices?: { requests?: ClaimRequest[]; constraints?: ClaimConstraint[] } };
  status?: {
    allocation?: { nodeSelector?: NodeSelector; devices?: { results?: AllocatedDevice[] } };
    reservedFor?: { apiGroup?: string; resource?: string; name?: string; uid?: string }[];
  };
}
