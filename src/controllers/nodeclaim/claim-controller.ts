// What the smaller NodeClaim controllers share: they are woken by claims, look only at claims of ours, and leave a lost
// race to the next event.
import type { NodeClaim } from '../../api/index.ts';
import { isKubeError } from '../../ports/index.ts';
import { done, type Outcome } from '../../runtime/index.ts';
import { type Controller, type ControllerContext, concurrencyFor, ownKey, type Source } from '../context.ts';
import { nodeClaims } from '../own-resources.ts';

export function claimController(
  name: string,
  context: ControllerContext,
  reconcile: (claim: NodeClaim) => Promise<Outcome>,
  more: readonly Source[] = [],
): Controller {
  const { cluster, settings, isManaged } = context;
  return {
    name,
    sources: [ownKey(nodeClaims), ...more],
    concurrency: concurrencyFor(settings, 10, 1_000),
    async reconcile(key) {
      const claim = cluster.claims.get(key);
      if (claim === undefined || !isManaged(claim.spec.nodeClassRef)) return done;
      try {
        return await reconcile(claim);
      } catch (error) {
        if (isKubeError(error, 'Conflict')) return { kind: 'retry' };
        if (isKubeError(error, 'NotFound')) return done;
        throw error;
      }
    },
  };
}
