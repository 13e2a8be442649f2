// How much it hurts to move a pod, and how much of a node's life is left to enjoy the result. Relative figures: an
// ordinary pod costs 1.
import { annotation } from '../../api/names.ts';
import type { Pod } from '../kube/objects.ts';

/** Spreads the range of deletion costs (int32) and of priorities over a few units, so that neither drowns the count of pods. */
const deletionCostUnit = 2 ** 27;
const priorityUnit = 2 ** 25;
const mostCost = 10;

/** Of one pod. Its own word on disruption counts before the deletion cost; what is not a whole number is ignored. */
export function evictionCost({ metadata, spec }: Pod): number {
  const deletionCost =
    wholeNumber(metadata.annotations?.[annotation.disruptionCost]) ??
    wholeNumber(metadata.annotations?.[annotation.podDeletionCost]) ??
    0;
  const cost = 1 + deletionCost / deletionCostUnit + (spec?.priority ?? 0) / priorityUnit;
  return Math.max(-mostCost, Math.min(mostCost, cost));
}

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : undefined;

/** Share of its life that a node still has before it; 1 for one that does not expire. */
export function lifetimeRemaining(ageMs: number, expireAfterMs: number | undefined): number {
  if (expireAfterMs === undefined || !Number.isFinite(expireAfterMs)) return 1;
  if (expireAfterMs <= 0) return 0;
  return Math.max(0, Math.min(1, (expireAfterMs - ageMs) / expireAfterMs));
}
