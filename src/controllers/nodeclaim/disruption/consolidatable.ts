// Whether a node has been quiet long enough to be consolidated: no pod came or went for the pool's consolidateAfter.
import { conditionType, durationMs, isTrue, type NodeClaim, type NodePool } from '../../../api/index.ts';
import { parseTime } from '../../../base/index.ts';
import { claimCondition, withCondition, withoutCondition } from '../claim-conditions.ts';

export interface Marked {
  claim: NodeClaim;
  /** When to look again. */
  againMs?: number;
}

export function markConsolidatable(claim: NodeClaim, pool: NodePool | undefined, nowMs: number): Marked {
  const unmarked = (): NodeClaim => withoutCondition(claim, conditionType.consolidatable, nowMs);
  const quietMs = durationMs(pool?.spec.disruption?.consolidateAfter);
  const isPossible =
    pool !== undefined &&
    pool.spec.replicas === undefined &&
    quietMs !== undefined &&
    Number.isFinite(quietMs) &&
    isTrue(claim.status?.conditions, conditionType.initialized);
  if (!isPossible) return { claim: unmarked() };
  const initialized = claimCondition(claim, conditionType.initialized)?.lastTransitionTime ?? '';
  const sinceMs = parseTime(claim.status?.lastPodEventTime ?? '') ?? parseTime(initialized) ?? nowMs;
  const leftMs = sinceMs + quietMs - nowMs;
  if (leftMs > 0) return { claim: unmarked(), againMs: leftMs };
  return { claim: withCondition(claim, { type: conditionType.consolidatable, status: 'True' }, nowMs) };
}
