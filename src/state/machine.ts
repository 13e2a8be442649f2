// One machine as we believe it to be: a Node, a NodeClaim, or both, with what only we know about it. What the two objects
// say together is decided in core; who may change what is in machines.ts.

import type { NodeClaim } from '../api/index.ts';
import { finalizer, label } from '../api/names.ts';
import { isInitialized, isLeaving as isLeavingByObjects, reportedResources } from '../core/index.ts';
import type { Node } from '../ports/index.ts';

export interface Machine {
  /** Provider id; the node's name for unmanaged nodes without one. */
  readonly key: string;
  node: Node | undefined;
  claim: NodeClaim | undefined;
  /** A disruption command has decided that it goes. */
  marked: boolean;
  /** Until then an earlier plan counts on it. */
  nominatedUntilMs: number;
}

/** By a command, or as its objects say. */
export function isLeaving(machine: Machine): boolean {
  return machine.marked || isLeavingByObjects(machine);
}

export function nodePoolOf(machine: Machine): string | undefined {
  return machine.claim?.metadata.labels?.[label.nodePool] ?? machine.node?.metadata.labels?.[label.nodePool];
}

/** Capacity as the pool's limits count it: the claim's until the node is initialized, then the node's own. */
export function capacityOf(machine: Machine): Record<string, string | number> {
  const { node, claim } = machine;
  return reportedResources(node?.status?.capacity, claim?.status?.capacity, isInitialized(machine));
}

export function hasTerminationFinalizer(object: { metadata: { finalizers?: string[] } }): boolean {
  return object.metadata.finalizers?.includes(finalizer.termination) ?? false;
}
