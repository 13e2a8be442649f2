// One machine as we believe it to be: a Node, a NodeClaim, or both, joined by provider id. Plain facts with a few
// questions; who may change what is in machines.ts.

import type { NodeClaim } from '../api/index.ts';
import { finalizer, label } from '../api/names.ts';
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

export function conditionOf(
  object: { status?: { conditions?: readonly { type: string; status: string }[] } },
  type: string,
): string | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type)?.status;
}

/** Unmanaged nodes count as registered and initialized: no one will label them. */
export function isRegistered(machine: Machine): boolean {
  if (machine.claim === undefined) return true;
  return machine.node?.metadata.labels?.[label.registered] === 'true';
}

export function isInitialized(machine: Machine): boolean {
  if (machine.claim === undefined) return true;
  return machine.node?.metadata.labels?.[label.initialized] === 'true';
}

/** Leaving: by a command, because its claim is, or, without a claim, because the Node is. */
export function isLeaving(machine: Machine): boolean {
  if (machine.marked) return true;
  const { claim, node } = machine;
  if (claim !== undefined) {
    return claim.metadata.deletionTimestamp !== undefined || conditionOf(claim, 'InstanceTerminating') === 'True';
  }
  return node?.metadata.deletionTimestamp !== undefined;
}

export function nodePoolOf(machine: Machine): string | undefined {
  return machine.claim?.metadata.labels?.[label.nodePool] ?? machine.node?.metadata.labels?.[label.nodePool];
}

/** Capacity as the pool's limits count it: the claim's until the node is initialized, then the node's own. */
export function capacityOf(machine: Machine): Record<string, string | number> {
  const fromNode = machine.node?.status?.capacity ?? {};
  const fromClaim = machine.claim?.status?.capacity ?? {};
  if (isInitialized(machine) || machine.claim === undefined) return fromNode;
  const merged: Record<string, string | number> = { ...fromClaim };
  for (const [name, quantity] of Object.entries(fromNode)) if (String(quantity) !== '0') merged[name] = quantity;
  return merged;
}

export function hasTerminationFinalizer(object: { metadata: { finalizers?: string[] } }): boolean {
  return object.metadata.finalizers?.includes(finalizer.termination) ?? false;
}
