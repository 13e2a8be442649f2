// pod.deletioncost, behind the gate PodDeletionCostManagement: once a minute, if something changed, works out in which order
// nodes are likely to go and asks for that order to be written on their pods, so that a ReplicaSet that is scaled down
// empties those nodes first. At most fifty nodes at a time; nodes that leave already do not wait for their turn.
import { inSlices } from '../../base/index.ts';
import { deletionRanks, Fleet, leavingRank, type RankedNode } from '../../core/index.ts';
import { again, type Controller, type ControllerContext } from '../context.ts';
import { instanceTypesOfPools, snapshotFor } from '../planning.ts';
import { costOn, textOf } from './cost-text.ts';
import type { DeletionCostQueue } from './queue.ts';

const intervalMs = 60_000;
const notSyncedMs = 1_000;
/** Some thirty pods each: fifteen hundred writes a minute. */
const mostNodes = 50;

/** `queued` names the claims that a command is disrupting. */
export function deletionCostController(
  context: ControllerContext,
  queue: DeletionCostQueue,
  queued: () => ReadonlySet<string>,
): Controller {
  const { clock, cluster, metrics } = context;
  const pending = metrics.gauge({
    name: 'karpenter_pod_deletion_cost_nodes_with_pending_annotation_writes',
    help: 'Nodes with pods whose deletion cost was to be written in the last pass, by NodePool.',
    labels: ['nodepool'],
  });
  let shown = new Set<string>();
  const show = (counts: ReadonlyMap<string, number>): void => {
    for (const nodepool of shown) if (!counts.has(nodepool)) pending.remove({ nodepool });
    for (const [nodepool, count] of counts) pending.set(count, { nodepool });
    shown = new Set(counts.keys());
  };
  let rankedAt: number | undefined;
  return {
    name: 'pod.deletioncost',
    sources: [],
    startKeys: ['all'],
    async reconcile() {
      if (!cluster.synced) return again(notSyncedMs);
      const changedAt = cluster.changedAt();
      if (rankedAt === changedAt) return again(intervalMs);
      const snapshot = snapshotFor(context, await instanceTypesOfPools(context));
      const fleet = await inSlices(clock, Fleet.inSlices(snapshot, { queued: queued() }));
      const counts = new Map<string, number>();
      const chosen = dueNodes(await inSlices(clock, deletionRanks(fleet)));
      for (const { nodePool, pods, rank } of chosen) {
        counts.set(nodePool, (counts.get(nodePool) ?? 0) + 1);
        queue.add(pods, rank);
      }
      show(counts);
      // More nodes are due than one pass may write: the next one goes on, whether something changed or not.
      const isComplete = chosen.filter(({ rank }) => rank !== leavingRank).length < mostNodes;
      rankedAt = isComplete ? changedAt : undefined;
      return again(intervalMs);
    },
  };
}

/** Those with a pod that carries another cost than it should, as many as one pass may write. */
function dueNodes(ranked: readonly RankedNode[]): RankedNode[] {
  const due = ranked.filter(({ pods, rank }) => pods.some((pod) => costOn(pod) !== textOf(rank)));
  const leaving = due.filter(({ rank }) => rank === leavingRank);
  return [...leaving, ...due.filter(({ rank }) => rank !== leavingRank).slice(0, mostNodes)];
}
