// node.health: replaces nodes that have been broken for longer than the provider tolerates. Budgets, do-not-disrupt and
// the configured grace period do not hold: what runs there does not run well. When too many nodes are broken at once it
// only tells, because then something else is wrong.
import { annotation, label, type NodeClaim, type NodePool } from '../../api/index.ts';
import { formatTime, parseTime } from '../../base/index.ts';
import { type EventSubject, isKubeError, type Node, resources } from '../../ports/index.ts';
import { done, type Outcome } from '../../runtime/index.ts';
import { again, type Controller, type ControllerContext, concurrencyFor, source } from '../context.ts';
import { aboutClaim, aboutNode, aboutPool } from '../event-subjects.ts';
import { isManagedNode } from '../managed.ts';
import type { ClaimMetrics } from '../nodeclaim/claim-metrics.ts';
import { nodeClaims } from '../own-resources.ts';
import { deleteClaim, patchObject } from '../writes.ts';
import { ailmentOf, isOutbreak } from './repair-policies.ts';

const name = 'node.health';
const blockedMs = 300_000;
const blockedDedupeMs = 900_000;

export function nodeHealthController(context: ControllerContext, metrics: ClaimMetrics): Controller {
  const { cloud, clock, cluster, kube, log, settings } = context;

  const reconcile = async (node: Node, claim: NodeClaim): Promise<Outcome> => {
    const policies = cloud.repairPolicies();
    const ailment = ailmentOf(node, policies, clock.now());
    if (ailment === undefined) return done;
    if (ailment.dueMs > clock.now()) return again(ailment.dueMs - clock.now());
    const poolName = claim.metadata.labels?.[label.nodePool];
    const peers = cluster.nodes
      .list()
      .filter(({ metadata }) => poolName === undefined || metadata.labels?.[label.nodePool] === poolName);
    if (isOutbreak(peers, policies)) {
      tellBlocked(context, node, claim, poolName);
      return again(blockedMs);
    }
    const marked = await patchObject(kube, nodeClaims, claim, withDeadline(claim, clock.now()));
    await deleteClaim(context, marked);
    metrics.countDisrupted(claim, 'unhealthy');
    metrics.unhealthyDisrupted.add({
      condition: snakeCase(ailment.conditionType),
      nodepool: poolName ?? '',
      capacity_type: claim.metadata.labels?.[label.capacityType] ?? '',
      image_id: claim.status?.imageID ?? '',
    });
    log.info('deleting unhealthy node', {
      controller: name,
      Node: { name: node.metadata.name },
      NodeClaim: { name: claim.metadata.name },
      condition: ailment.conditionType,
    });
    return done;
  };

  return {
    name,
    sources: [
      source(resources.nodes, ({ before, after }) =>
        after !== undefined && conditionsOf(before) !== conditionsOf(after) ? [after.metadata.name ?? ''] : [],
      ),
    ],
    concurrency: concurrencyFor(settings, 10, 1_000),
    async reconcile(key) {
      const node = cluster.nodes.get(key);
      if (node === undefined || !isManagedNode(cloud, node)) return done;
      const [claim] = cluster.claims.filedUnder(node.spec?.providerID ?? '');
      if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return done;
      try {
        return await reconcile(node, claim);
      } catch (error) {
        if (isKubeError(error, 'Conflict')) return { kind: 'retry' };
        if (isKubeError(error, 'NotFound')) return done;
        throw error;
      }
    },
  };
}

/** Pods get no grace from now on; a deadline that has passed already stays. */
function withDeadline(claim: NodeClaim, nowMs: number): NodeClaim {
  const presentMs = parseTime(claim.metadata.annotations?.[annotation.terminationTimestamp] ?? '');
  if (presentMs !== undefined && presentMs < nowMs) return claim;
  const annotations = { ...claim.metadata.annotations, [annotation.terminationTimestamp]: formatTime(nowMs) };
  return { ...claim, metadata: { ...claim.metadata, annotations } };
}

function tellBlocked(
  { cluster, recorder }: ControllerContext,
  node: Node,
  claim: NodeClaim,
  poolName: string | undefined,
): void {
  const pool: NodePool | undefined = poolName === undefined ? undefined : cluster.nodePools.get(poolName);
  const message =
    poolName === undefined
      ? 'more then 20% nodes are unhealthy in the cluster'
      : 'more than 20% nodes are unhealthy in the nodepool';
  const subjects: EventSubject[] = [
    aboutNode(node),
    aboutClaim(claim),
    ...(pool === undefined ? [] : [aboutPool(pool)]),
  ];
  for (const subject of subjects)
    recorder.publish({ subject, type: 'Warning', reason: 'NodeRepairBlocked', message, dedupeMs: blockedDedupeMs });
}

/** What a change of conditions is told by; heartbeats are none. */
function conditionsOf(node: Node | undefined): string | undefined {
  return node?.status?.conditions
    ?.map(({ type, status, lastTransitionTime }) => `${type}=${status}@${lastTransitionTime ?? ''}`)
    .join();
}

const snakeCase = (text: string): string => text.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toLowerCase();
