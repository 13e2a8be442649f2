// How much it hurts to move a pod, and how much of a node's life is left to enjoy the result. Relative figures: an
// ordinary pod costs 1.
import { annotation } from '../../api/names.ts';
import type { Pod } from '../kube/objects.ts';

/** Spreads the range of deletion costs (int32) and of priorities over a few units, so that neither drowns the count of pods. */
const deletionCostUnit = 2 ** 27;
const priorityUnit = 2 ** 25;
const mostCost = 10;

/** Who writes deletion costs: users, or with the gate PodDeletionCostManagement the controller itself, as ranks. */
export type DeletionCostsBy = 'users' | 'controller';

export function deletionCostsBy({
  featureGates,
}: {
  featureGates?: Readonly<Record<string, boolean>>;
}): DeletionCostsBy {
  return featureGates?.['PodDeletionCostManagement'] === true ? 'controller' : 'users';
}

/**
 * Of one pod. Its own word on disruption counts; where it says nothing, its deletion cost does, unless that is a rank the
 * controller wrote. What is not an int32 is ignored, and nothing else is read in its place.
 */
export function evictionCost({ metadata, spec }: Pod, costsBy: DeletionCostsBy = 'users'): number {
  const { annotations } = metadata;
  const text =
    annotations?.[annotation.disruptionCost] ??
    (costsBy === 'users' ? annotations?.[annotation.podDeletionCost] : undefined);
  const own = text === undefined ? 0 : (int32Of(text) ?? 0);
  const cost = 1 + own / deletionCostUnit + (spec?.priority ?? 0) / priorityUnit;
  return Math.max(-mostCost, Math.min(mostCost, cost));
}

/** Undefined for what is not a whole number of 32 bits: kube-controller-manager does not read more either. */
export function int32Of(text: string): number | undefined {
  const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= -(2 ** 31) && value < 2 ** 31 ? value : undefined;
}

/** Share of its life that a node still has before it; 1 for one that does not expire. */
export function lifetimeRemaining(ageMs: number, expireAfterMs: number | undefined): number {
  if (expireAfterMs === undefined || !Number.isFinite(expireAfterMs)) return 1;
  if (expireAfterMs <= 0) return 0;
  return Math.max(0, Math.min(1, (expireAfterMs - ageMs) / expireAfterMs));
}
