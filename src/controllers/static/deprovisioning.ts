// static.deprovisioning: takes away the nodes a pool has above its `replicas`, those that hurt least first. Budgets do not
// count here: the user asked for fewer nodes. That they did, and that there are too many, is read anew before nodes go.
import { durationMs, label, type NodeClaim, type NodePool } from '../../api/index.ts';
import { parseTime } from '../../base/index.ts';
import { type DeletionCostsBy, deletionCostsBy, lifetimeRemaining } from '../../core/index.ts';
import type { Pod } from '../../ports/index.ts';
import { done } from '../../runtime/index.ts';
import {
  type Cluster,
  evictionCost,
  isActive,
  isDoNotDisruptActive,
  isOwnedByDaemonSet,
  isTerminal,
} from '../../state/index.ts';
import { again, type Controller, type ControllerContext, source } from '../context.ts';
import { endClaim } from '../nodeclaim/end-claim.ts';
import { poolController } from '../nodepool/pool-controller.ts';
import { nodeClaims, nodePools } from '../own-resources.ts';
import { storedClaims, storedObject } from '../ownership/stored.ts';
import type { NodeCounts } from './node-counts.ts';

const scaledDown = { code: 'ScaledDown', message: 'its NodePool has more nodes than spec.replicas' };
const recheckMs = 60_000;
/** What is stored disagrees with the caches, which catch up sooner. */
const unprovenMs = 10_000;

export function staticDeprovisioningController(context: ControllerContext, counts: NodeCounts): Controller {
  const { cluster, clock, log } = context;
  const name = 'static.deprovisioning';
  return poolController(
    name,
    context,
    async (pool) => {
      const { replicas } = pool.spec;
      if (replicas === undefined || pool.metadata.deletionTimestamp !== undefined) return done;
      const { active } = counts.of(pool.metadata.name ?? '');
      if (active.length <= replicas) return again(recheckMs);
      const { staying, surplus } = await storedSurplus(context, pool, active);
      if (surplus <= 0) return again(unprovenMs);
      const leaving = cheapestToLose(cluster, staying, clock.now(), deletionCostsBy(context.settings)).slice(
        0,
        surplus,
      );
      await Promise.all(leaving.map((claim) => endClaim(context, claim, scaledDown)));
      for (const { metadata } of leaving) {
        log.info('deleted nodeclaim', {
          controller: name,
          NodePool: { name: pool.metadata.name },
          NodeClaim: { name: metadata.name },
        });
      }
      return again(recheckMs);
    },
    [
      source(nodeClaims, ({ before, after }) =>
        before === undefined ? [after?.metadata.labels?.[label.nodePool] ?? []].flat() : [],
      ),
    ],
  );
}

/** Of the claims those that are stored and stay, and how many of them are too many for the pool as it is stored. */
async function storedSurplus(
  context: ControllerContext,
  { metadata }: NodePool,
  active: readonly NodeClaim[],
): Promise<{ staying: NodeClaim[]; surplus: number }> {
  const pool = await storedObject(context, nodePools, metadata.name ?? '');
  const replicas = pool?.metadata.uid === metadata.uid ? pool?.spec.replicas : undefined;
  // As it is stored, not as it was checked.
  if (typeof replicas !== 'number') return { staying: [], surplus: 0 };
  const stored = new Set((await storedClaims(context)).flatMap(({ uid, isDeleting }) => (isDeleting ? [] : [uid])));
  const staying = active.filter((claim) => stored.has(claim.metadata.uid));
  return { staying, surplus: staying.length - replicas };
}

/** Not launched, then empty, then by cost, then protected ones; of equals the first by name. */
export function cheapestToLose(
  cluster: Cluster,
  claims: readonly NodeClaim[],
  nowMs: number,
  costsBy?: DeletionCostsBy,
): NodeClaim[] {
  const ranked = claims.map((claim) => ({ claim, ...rankOf(cluster, claim, nowMs, costsBy) }));
  ranked.sort(
    (left, right) =>
      left.group - right.group ||
      left.cost - right.cost ||
      ((left.claim.metadata.name ?? '') < (right.claim.metadata.name ?? '') ? -1 : 1),
  );
  return ranked.map(({ claim }) => claim);
}

function rankOf(
  cluster: Cluster,
  claim: NodeClaim,
  nowMs: number,
  costsBy?: DeletionCostsBy,
): { group: number; cost: number } {
  if (!claim.status?.providerID) return { group: 0, cost: 0 };
  const node = cluster.machines.ofClaim(claim.metadata.name ?? '')?.node;
  const pods = [...cluster.pods.on(node?.metadata.name ?? '')].filter((pod) => !isTerminal(pod));
  const isProtected = (pod: Pod): boolean => isActive(pod) && isDoNotDisruptActive(pod, nowMs);
  const ageMs = nowMs - (parseTime(claim.metadata.creationTimestamp ?? '') ?? nowMs);
  const cost =
    pods.reduce((sum, pod) => sum + evictionCost(pod, costsBy), 0) *
    lifetimeRemaining(ageMs, durationMs(claim.spec.expireAfter));
  if (pods.some(isProtected)) return { group: 3, cost };
  return pods.every(isOwnedByDaemonSet) ? { group: 1, cost: 0 } : { group: 2, cost };
}
