// What disturbing a whole node costs, in the currency of pods: one for the node itself, and what its pods cost to move.

import type { Pod } from '../kube/objects.ts';
import { isOwnedByDaemonSet, isReschedulable } from '../pods/pod-classes.ts';
import { type DeletionCostsBy, evictionCost } from './eviction-cost.ts';

/** One for the node, and what its reschedulable pods cost; pods that would rather go cost nothing. */
export function rescheduleCost(pods: Iterable<Pod>, costsBy?: DeletionCostsBy): number {
  let cost = 1;
  for (const pod of pods) if (isReschedulable(pod)) cost += Math.max(0, evictionCost(pod, costsBy));
  return cost;
}

/** The same for a node that is not a candidate: every pod that is not a daemon counts. */
export function residentCost(pods: Iterable<Pod>, costsBy?: DeletionCostsBy): number {
  let cost = 1;
  for (const pod of pods) if (!isOwnedByDaemonSet(pod)) cost += Math.max(0, evictionCost(pod, costsBy));
  return cost;
}
