// nodepool.hash: keeps the pool's hash annotations. When the algorithm's version changes, its claims get the new hash
// first, so that an upgrade drifts nothing; claims already drifted keep theirs and stay drifted.

import {
  annotation,
  conditionType,
  label,
  type NodeClaim,
  nodePoolHash,
  nodePoolHashVersion,
} from '../../api/index.ts';
import { conditionOf } from '../../base/index.ts';
import { done } from '../../runtime/index.ts';
import type { Controller, ControllerContext } from '../context.ts';
import { nodeClaims, nodePools } from '../own-resources.ts';
import { patchObject } from '../writes.ts';
import { poolController } from './pool-controller.ts';

export function hashController(context: ControllerContext): Controller {
  const { cluster, kube } = context;
  const restamp = async (claim: NodeClaim, hash: string): Promise<void> => {
    const isDrifted = conditionOf(claim.status?.conditions, conditionType.drifted) !== undefined;
    const annotations = {
      ...claim.metadata.annotations,
      [annotation.nodePoolHashVersion]: nodePoolHashVersion,
      ...(isDrifted ? {} : { [annotation.nodePoolHash]: hash }),
    };
    cluster.setClaim(
      await patchObject(kube, nodeClaims, claim, { ...claim, metadata: { ...claim.metadata, annotations } }),
    );
  };
  return poolController('nodepool.hash', context, async (pool) => {
    const hash = nodePoolHash(pool.spec.template);
    const present = pool.metadata.annotations ?? {};
    if (present[annotation.nodePoolHashVersion] !== nodePoolHashVersion) {
      const stale = cluster.claims
        .list()
        .filter(({ metadata }) => metadata.labels?.[label.nodePool] === pool.metadata.name)
        .filter(({ metadata }) => metadata.annotations?.[annotation.nodePoolHashVersion] !== nodePoolHashVersion);
      await Promise.all(stale.map((claim) => restamp(claim, hash)));
    }
    const annotations = {
      ...present,
      [annotation.nodePoolHash]: hash,
      [annotation.nodePoolHashVersion]: nodePoolHashVersion,
    };
    cluster.setNodePool(
      await patchObject(kube, nodePools, pool, { ...pool, metadata: { ...pool.metadata, annotations } }),
    );
    return done;
  });
}
