// How much it hurts to move a pod, and how much of a node's life is left to enjoy the result. Relative figures: an
// ordinary pod costs 1.
import { annotation } from '../../api/names.ts';
import type { Pod } from '../kube/objects.ts';

/** Spreads the range of deletion costs (int32) and of priorities over a few units, so that neither drowns the count of pods. */
const deletionCostUnit = 2 ** 27;
const priorityUnit = 2 ** 25;
const mostCost = 10;

/** Of one pod; a deletion cost that is no whole number is ignored. */
export function evictionCost(pod: Pod): number {
  const text = pod.metadata.annotations?.[annotation.podDeletionCost];
  const deletionCost = text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : 0;
  const cost = 1 + deletionCost / deletionCostUnit + (pod.spec?.priority ?? 0) / priorityUnit;
  return Math.max(-mostCost, Math.min(mostCost, cost));
}

/** Share of its life that a node still has before it; 1 for one that does not expire. */
export function lifetimeRemaining(ageMs: number, expireAfterMs: number | undefined): number {
  if (expireAfterMs === undefined || !Number.isFinite(expireAfterMs)) return 1;
  if (expireAfterMs <= 0) return 0;
  return Math.max(0, Math.min(1, (expireAfterMs - ageMs) / expireAfterMs));
}
