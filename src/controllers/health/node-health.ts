// node.health: replaces nodes that have been broken for longer than the provider tolerates. Budgets, do-not-disrupt and
// the configured grace period do not hold: what runs there does not run well. When too many nodes are broken at once it
// only tells, because then something else is wrong.
import { annotation, label, type NodeClaim, type NodePool } from '../../api/index.ts';
import { formatTime, parseTime } from '../../base/index.ts';
import { type EventSubject, isKubeError, type Node, resources } from '../../ports/index.ts';
import { done, type Outcome } from '../../runtime/index.ts';
import {
  again,
  type Controller,
  type ControllerContext,
  concurrencyFor,
  source,
  untrustedClockMs,
} from '../context.ts';
import { decideRemoval } from '../decisions.ts';
import { aboutClaim, aboutNode, aboutPool } from '../event-subjects.ts';
import { isManagedNode } from '../managed.ts';
import { claimsOfNode } from '../node-and-claim.ts';
import { type ClaimMetrics, snakeCase } from '../nodeclaim/claim-metrics.ts';
import { endClaim } from '../nodeclaim/end-claim.ts';
import { nodeClaims } from '../own-resources.ts';
import { storedObject } from '../ownership/stored.ts';
import { patchObject } from '../writes.ts';
import { Ailments, ailmentOf, isOutbreak } from './repair-policies.ts';

const name = 'node.health';
const blockedMs = 300_000;
/** What is stored says otherwise: the cache catches up sooner. */
const notProvenMs = 10_000;
const blockedDedupeMs = 900_000;

export function nodeHealthController(context: ControllerContext, metrics: ClaimMetrics): Controller {
  const { cloud, clock, cluster, kube, log, recorder, settings, time } = context;
  const ailments = new Ailments(clock);

  const reconcile = async (node: Node, claim: NodeClaim): Promise<Outcome> => {
    const policies = cloud.repairPolicies();
    const ailment = ailments.of(node, policies);
    if (ailment === undefined) return done;
    if (ailment.dueMs > clock.now()) return again(ailment.dueMs - clock.now());
    if (isKept(node) || isKept(claim)) {
      const message = `repair is blocked through the "${annotation.doNotRepair}" annotation`;
      for (const subject of [aboutNode(node), aboutClaim(claim)])
        recorder.publish({ subject, type: 'Normal', reason: 'DisruptionBlocked', message, dedupeMs: blockedDedupeMs });
      return again(blockedMs);
    }
    if (time.problem() !== undefined) return again(untrustedClockMs);
    const poolName = claim.metadata.labels?.[label.nodePool];
    const peers = cluster.nodes
      .list()
      .filter(({ metadata }) => poolName === undefined || metadata.labels?.[label.nodePool] === poolName);
    if (isOutbreak(peers, policies)) {
      tellBlocked(context, node, claim, poolName);
      return again(blockedMs);
    }
    // A cache that is behind shows a node as broken that has recovered, or without what its owner said since.
    const stored = await storedObject(context, resources.nodes, node.metadata.name ?? '');
    if (stored === undefined || stored.metadata.uid !== node.metadata.uid) return done;
    if (ailmentOf(stored, policies, clock.now()) === undefined || isKept(stored)) return again(notProvenMs);
    const owner = await storedObject(context, nodeClaims, claim.metadata.name ?? '');
    if (owner === undefined || owner.metadata.uid !== claim.metadata.uid) return done;
    if (isKept(owner)) return again(notProvenMs);
    const marked = await patchObject(kube, nodeClaims, claim, withDeadline(claim, clock.now()));
    const message = `condition ${ailment.conditionType} of the Node has not passed within its tolerated time`;
    await endClaim(context, marked, { code: 'Unhealthy', message });
    metrics.countDisrupted(claim, 'unhealthy');
    decideRemoval(context, 'repair', claim, { code: 'Unhealthy', message });
    metrics.unhealthyDisrupted.add({
      condition: snakeCase(ailment.conditionType),
      nodepool: poolName ?? '',
      capacity_type: claim.metadata.labels?.[label.capacityType] ?? '',
      image_id: claim.status?.imageID ?? '',
      termination_mode: 'forceful',
    });
    log.info('deleting unhealthy node', {
      controller: name,
      Node: { name: node.metadata.name },
      NodeClaim: { name: claim.metadata.name },
      condition: ailment.conditionType,
    });
    return done;
  };

  const isOurs = (node: Node | undefined): boolean => node !== undefined && isManagedNode(cloud, node);

  return {
    name,
    sources: [
      // A node that was broken before it became ours never changes its conditions again.
      source(resources.nodes, ({ before, after }) => {
        if (after === undefined) return [before?.metadata.name ?? ''];
        const isNews = conditionsOf(before) !== conditionsOf(after) || isOurs(before) !== isOurs(after);
        return isNews ? [after.metadata.name ?? ''] : [];
      }),
      source(nodeClaims, ({ before, after }) => {
        const { providerID } = after?.status ?? {};
        if (providerID === undefined || providerID === before?.status?.providerID) return [];
        return cluster.nodes.filedUnder(providerID).map(({ metadata }) => metadata.name ?? '');
      }),
    ],
    concurrency: concurrencyFor(settings, 10, 1_000),
    async reconcile(key) {
      const node = cluster.nodes.get(key);
      if (node === undefined) ailments.forget(key);
      if (node === undefined || !isManagedNode(cloud, node)) return done;
      const [claim] = claimsOfNode(context, node);
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

/** Its owner wants to look at it, or knows better. */
const isKept = ({ metadata }: Pick<Node, 'metadata'>): boolean =>
  metadata.annotations?.[annotation.doNotRepair] === 'true';

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

/** What a change of conditions is recognized by; heartbeats are none. */
function conditionsOf(node: Node | undefined): string | undefined {
  return node?.status?.conditions
    ?.map(({ type, status, lastTransitionTime }) => `${type}=${status}@${lastTransitionTime ?? ''}`)
    .join();
}
