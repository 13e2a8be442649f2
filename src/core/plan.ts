// The plan: what the planner answers, as plain data. It is the documented output of `kerf plan -o json`
// (docs/reference/plan-format.md), so its shape is interface. Every waiting pod occurs in it exactly once.

import type { CompileDeviceSelector } from './devices/resource-claim-requests.ts';
import type { RequirementSpec } from './snapshot.ts';

/**
 * Why a pod got no place. The first group is fixed by the plan format; the second is ours and documented there too.
 * `PodInvalid` … `DynamicResourcesUnsupported` concern the pod in any pool; the rest is what is in the way in one pool.
 */
export type ReasonCode =
  | 'PodInvalid'
  | 'PodOptedOut'
  | 'NoNodePools'
  | 'NoInstanceTypes'
  | 'MinValuesUnsatisfied'
  | 'ReservedCapacityDeferred'
  | 'DynamicResourcesUnsupported'
  | 'TaintNotTolerated'
  | 'RequirementsIncompatible'
  | 'VolumeRequirementsIncompatible'
  | 'TopologyUnsatisfiable'
  | 'HostPortConflict'
  | 'InsufficientResources'
  | 'NoOffering'
  | 'NoInstanceTypeFits'
  | 'LimitsExceeded'
  | 'DevicesUnavailable'
  | 'NodePoolPaused'
  | 'UnknownValue';

export interface Reason {
  code: ReasonCode;
  /** One readable line. */
  message: string;
  /** The pool that refused, if the reason is about one. */
  nodePool?: string;
  /** The change that would make the pod fit. */
  suggestion?: string;
  /** The requirement keys concerned. */
  keys?: string[];
}

export interface ChosenOffering {
  instanceType: string;
  zone: string;
  capacityType: string;
  pricePerHour: number;
}

export interface PlannedNode {
  /** Unique in the plan. */
  name: string;
  nodePool: string;
  /** Cheapest first under the final requirements; at least one. */
  instanceTypes: string[];
  /** The cheapest compatible available offering. */
  chosen: ChosenOffering;
  requirements: RequirementSpec[];
  /** Pods and the daemons the node will run. */
  requests: Record<string, string>;
  /** What the plan adds to the NodeClaim beyond the template's annotations. */
  annotations: Record<string, string>;
  /** `namespace/name`, in the order in which they were placed. */
  pods: string[];
}

export interface ExistingPlacement {
  /** The Node's name, or the NodeClaim's while there is no registered Node. */
  name: string;
  pods: string[];
}

export interface UnschedulablePod {
  pod: string;
  /** Never empty; the first decides. */
  reasons: Reason[];
}

export interface Plan {
  apiVersion: 'kerf/v1';
  kind: 'Plan';
  /** Planning time, reading the snapshot not counted; 0 without a stopwatch, because the planner has no clock. */
  solveMs: number;
  /** Pods accounted for. */
  pods: number;
  /** Sum over the new nodes' `chosen`. */
  pricePerHour: number;
  /** The price with what nodes cost beside it; only where a cost was set, for all or for a pool. */
  costPerHour?: number;
  lowerBoundPerHour?: number;
  newNodes: PlannedNode[];
  existingNodes: ExistingPlacement[];
  unschedulable: UnschedulablePod[];
}

/** A pool that could be used, were there an instance type left for it. */
export interface EmptyPool {
  nodePool: string;
  message: string;
}

export interface PlanOptions {
  /** Called for each usable pool whose requirements leave no instance type, whether or not a pod wanted it. */
  onEmptyPool?: (pool: EmptyPool) => void;
  /** Called with how many waiting pods can only go to which zone: its name, `flexible` or `none`. */
  onZones?: (pods: ReadonlyMap<string, number>) => void;
  /** Called for each pod that could not have all it wants, with what it does without, in the order it was given up. */
  onRelaxed?: (pod: string, changes: readonly string[]) => void;
  /** Reads the CEL selectors of devices, where devices are not ignored; the planner knows no CEL. */
  compileDeviceSelector?: CompileDeviceSelector;
  /**
   * False leaves out what comes after the first packing: cheaper nodes, and fewer types where limits are short. With
   * `pool by pool` pods are not bought from another pool of the same weight.
   */
  improve?: boolean | 'pool by pool';
  /** Milliseconds from any origin; only to stamp `solveMs`. */
  stopwatch?: () => number;
}
