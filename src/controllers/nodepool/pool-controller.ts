// What the NodePool controllers share: they are woken by pools (and by what the pool points at), look only at pools of
// ours, and leave a lost race to the next event.
import type { NodePool } from '../../api/index.ts';
import { isKubeError } from '../../ports/index.ts';
import { done, type Outcome } from '../../runtime/index.ts';
import { type Controller, type ControllerContext, concurrencyFor, ownKey, type Source } from '../context.ts';
import { nodePools } from '../own-resources.ts';

export function poolController(
  name: string,
  context: ControllerContext,
  reconcile: (pool: NodePool) => Promise<Outcome>,
  more: readonly Source[] = [],
): Controller {
  const { cluster, settings, isManaged } = context;
  return {
    name,
    sources: [ownKey(nodePools), ...more],
    concurrency: concurrencyFor(settings, 10, 1_000),
    async reconcile(key) {
      const pool = cluster.nodePools.get(key);
      if (pool === undefined || !isManaged(pool.spec.template.spec.nodeClassRef)) return done;
      try {
        return await reconcile(pool);
      } catch (error) {
        if (isKubeError(error, 'Conflict')) return { kind: 'retry' };
        if (isKubeError(error, 'NotFound')) return done;
        throw error;
      }
    },
  };
}
