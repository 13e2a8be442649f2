// Which NodePools may get new nodes, in the order in which they are tried.

import { conditionIsTrue, type NodePool } from '../kube/objects.ts';
import type { ProviderFacts } from '../snapshot.ts';

/** Supported node class, dynamic, ready and not on its way out; heaviest first, of equal weight the later name first. */
export function usablePools(pools: Iterable<NodePool>, facts: ProviderFacts | undefined): NodePool[] {
  return [...pools]
    .filter(
      (pool) =>
        isSupported(pool, facts) &&
        (pool.spec?.replicas === undefined || pool.spec.replicas === null) &&
        conditionIsTrue(pool.status?.conditions, 'Ready') &&
        !pool.metadata.deletionTimestamp,
    )
    .sort(
      (left, right) =>
        (right.spec?.weight ?? 0) - (left.spec?.weight ?? 0) || (left.metadata.name < right.metadata.name ? 1 : -1),
    );
}

function isSupported(pool: NodePool, facts: ProviderFacts | undefined): boolean {
  if (facts?.nodeClasses === undefined) return true;
  const { group, kind } = pool.spec?.template?.spec?.nodeClassRef ?? {};
  return facts.nodeClasses.includes(`${kind ?? ''}.${group ?? ''}`);
}
