// nodeclaim.disruption: keeps the conditions up to date that disruption goes by, Drifted and Consolidatable.
import { label, type NodeClaim, type NodePool } from '../../../api/index.ts';
import { done } from '../../../runtime/index.ts';
import { again, type Controller, type ControllerContext, source } from '../../context.ts';
import { nodeClaims, nodePools } from '../../own-resources.ts';
import { patchStatus } from '../../writes.ts';
import { claimController } from '../claim-controller.ts';
import { markConsolidatable } from './consolidatable.ts';
import { DriftMarking } from './drift.ts';

/** Providers and pools may change without anybody telling the claim. */
const recheckMs = 300_000;

export function claimDisruptionController(context: ControllerContext): Controller {
  const { clock, cluster, kube } = context;
  const drift = new DriftMarking(context);

  const claimsOf = (pool: NodePool | undefined): string[] => {
    const name = pool?.metadata.name;
    if (name === undefined) return [];
    const own = cluster.claims.list().filter((claim) => claim.metadata.labels?.[label.nodePool] === name);
    return own.map((claim) => claim.metadata.name ?? '');
  };

  return claimController(
    'nodeclaim.disruption',
    context,
    async (claim: NodeClaim) => {
      if (claim.metadata.deletionTimestamp !== undefined) {
        drift.forget(claim.metadata.uid ?? '');
        return done;
      }
      const pool = cluster.nodePools.get(claim.metadata.labels?.[label.nodePool] ?? '');
      const judged = await drift.mark(claim, pool);
      const marked = markConsolidatable(judged, pool, clock.now());
      const written = await patchStatus(kube, nodeClaims, claim, marked.claim);
      if (written !== claim) {
        cluster.setClaim(written);
        // A node that may be consolidated from now on is news to consolidation.
        cluster.changed();
      }
      return again(Math.min(recheckMs, marked.againMs ?? recheckMs));
    },
    [source(nodePools, ({ before, after }) => (isSame(before, after) ? [] : claimsOf(after ?? before)))],
  );
}

/** Only what the pool asks for matters, not how full it is. */
function isSame(before: NodePool | undefined, after: NodePool | undefined): boolean {
  return (
    before !== undefined &&
    after !== undefined &&
    before.metadata.generation === after.metadata.generation &&
    JSON.stringify(before.metadata.annotations) === JSON.stringify(after.metadata.annotations)
  );
}
