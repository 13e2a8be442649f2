// node.termination: takes a deleted Node away without hurting its pods. Taint, drain, wait for volumes, take the machine,
// remove the finalizer; each stage is looked at anew from the API's objects until it is over, so a restart goes on where
// the last process stopped. Nothing begins on the word of a cache alone: that the Node is being deleted is read from what is
// stored.
import { annotation, finalizer, label, type NodeClaim, taint } from '../../../api/index.ts';
import { KerfError, parseTime } from '../../../base/index.ts';
import { isCloudError, isKubeError, type Node, resources } from '../../../ports/index.ts';
import { done, type Outcome } from '../../../runtime/index.ts';
import { hasTerminationFinalizer } from '../../../state/index.ts';
import { again, type Controller, type ControllerContext, concurrencyFor, ownKey, source } from '../../context.ts';
import { aboutNode } from '../../event-subjects.ts';
import type { EvictionQueue } from '../../eviction/eviction-queue.ts';
import { isManagedNode } from '../../managed.ts';
import { claimsOfNode } from '../../node-and-claim.ts';
import type { ClaimMetrics } from '../../nodeclaim/claim-metrics.ts';
import { endClaim } from '../../nodeclaim/end-claim.ts';
import type { MachineRemoval } from '../../nodeclaim/machine-removal.ts';
import { nodeClaims } from '../../own-resources.ts';
import { Proofs } from '../../ownership/proofs.ts';
import { isStoredAsLeaving, storedObject } from '../../ownership/stored.ts';
import { patchObject } from '../../writes.ts';
import { type Departure, stagesOf } from './stages.ts';

/** A cache that disagrees with what is stored catches up sooner. */
const unprovenMs = 10_000;

export function nodeTerminationController(
  context: ControllerContext,
  metrics: ClaimMetrics,
  evictions: EvictionQueue,
  removals: MachineRemoval,
): Controller {
  const { cloud, clock, cluster, kube, log, recorder, settings, time } = context;
  const stages = stagesOf(context, metrics, evictions, removals);
  const proofs = new Proofs(clock);

  const terminate = async (found: Node): Promise<Outcome> => {
    const claim = claimOf(found);
    const { name = '', uid = name } = found.metadata;
    if (!(await proofs.holds(uid, () => isStoredAsLeaving(context, resources.nodes, found)))) {
      const reason = 'as it is stored it is not being deleted';
      log.info('keeping node for now', { controller: 'node.termination', Node: { name }, reason });
      return again(unprovenMs);
    }
    if (claim !== undefined && claim.metadata.deletionTimestamp === undefined) {
      await endClaim(context, claim, { code: 'NodeDeleted', message: `its Node ${name} was deleted` });
    }
    if (!isReady(found) && (await isMachineGone(found)) && !(await isStoredReady(found))) return release(found);
    // A moment that only a wrong clock has reached forces nothing.
    const deadlineMs = time.problem() === undefined ? deadlineOf(found, claim) : undefined;
    const node = await disrupted(found);
    let departure: Departure = { node, claim, deadlineMs };
    for (const stage of stages) {
      const result = await stage(departure);
      if (result.outcome !== undefined) return result.outcome;
      departure = { ...departure, claim: result.claim };
    }
    return release(node);
  };

  /** None if there are several: then it is unknown which one speaks for the node. */
  const claimOf = (node: Node): NodeClaim | undefined => {
    const claims = claimsOfNode(context, node);
    return claims.length === 1 ? claims[0] : undefined;
  };

  const isMachineGone = async (node: Node): Promise<boolean> => {
    try {
      await cloud.get(node.spec?.providerID ?? '');
      return false;
    } catch (error) {
      if (isCloudError(error, 'notFound')) return true;
      throw error;
    }
  };

  /** A kubelet that reports speaks against the provider's word, also if the cache is behind. */
  const isStoredReady = async ({ metadata: { name = '', uid } }: Node): Promise<boolean> => {
    const node = await storedObject(context, resources.nodes, name);
    return node !== undefined && node.metadata.uid === uid && isReady(node);
  };

  const deadlineOf = (node: Node, claim: NodeClaim | undefined): number | undefined => {
    const text = claim?.metadata.annotations?.[annotation.terminationTimestamp];
    if (text === undefined) return undefined;
    const deadlineMs = parseTime(text);
    if (deadlineMs === undefined) {
      throw new KerfError(
        'TerminationTimeInvalid',
        `cannot read annotation ${annotation.terminationTimestamp}=${JSON.stringify(text)} of NodeClaim ${claim?.metadata.name}: write a time such as 2026-01-31T12:00:00Z, or remove it`,
        { subject: `NodeClaim ${claim?.metadata.name}`, retryable: true },
      );
    }
    recorder.publish({
      subject: aboutNode(node),
      type: 'Warning',
      reason: 'TerminationGracePeriodExpiring',
      message: `All pods will be deleted by ${text}`,
    });
    return deadlineMs;
  };

  /** No new pods, no new connections. */
  const disrupted = async (node: Node): Promise<Node> => {
    const { key, effect } = taint.disrupted;
    const present = node.spec?.taints ?? [];
    const isTainted = present.some((each) => each.key === key && each.effect === effect);
    const taints = isTainted ? present : [...present.filter((each) => each.key !== key), { key, effect }];
    const labels = { ...node.metadata.labels, [label.excludeFromLoadBalancers]: 'karpenter' };
    const written = await patchObject(
      kube,
      resources.nodes,
      node,
      { ...node, metadata: { ...node.metadata, labels }, spec: { ...node.spec, taints } },
      { locked: true },
    );
    if (written !== node) cluster.setNode(written);
    if (!isTainted) {
      log.info('tainted node', {
        controller: 'node.termination',
        Node: { name: node.metadata.name },
        'taint.Key': key,
        'taint.Value': '',
        'taint.Effect': effect,
      });
    }
    return written;
  };

  const release = async (node: Node): Promise<Outcome> => {
    const name = node.metadata.name ?? '';
    // Names the one finalizer instead of writing the list: kubelets write Nodes all the time, and nothing is to be lost.
    const { uid } = node.metadata;
    const body = {
      metadata: {
        // Addresses are used again, and names with them: another Node of that name keeps its finalizer.
        ...(uid === undefined ? {} : { uid }),
        '$deleteFromPrimitiveList/finalizers': [finalizer.termination],
      },
    };
    await kube.patch(resources.nodes, { name }, { type: 'strategic', body });
    const nodepool = node.metadata.labels?.[label.nodePool] ?? '';
    const secondsSince = (time: string | undefined): number =>
      (clock.now() - (parseTime(time ?? '') ?? clock.now())) / 1000;
    metrics.nodesTerminated.add({ nodepool, zone: node.metadata.labels?.[label.zone] ?? '' });
    metrics.nodeTermination.observe(secondsSince(node.metadata.deletionTimestamp), { nodepool });
    metrics.nodeLifetime.observe(secondsSince(node.metadata.creationTimestamp), { nodepool });
    log.info('deleted node', { controller: 'node.termination', Node: { name } });
    return done;
  };

  const isOurs = (node: Node): boolean =>
    node.metadata.deletionTimestamp !== undefined && hasTerminationFinalizer(node) && isManagedNode(cloud, node);

  /** Changes elsewhere that a node may be waiting for; nodes that are not leaving have nothing to wait for. */
  const wakeLeaving = (name: string | undefined): string[] =>
    name !== undefined && cluster.nodes.get(name)?.metadata.deletionTimestamp !== undefined ? [name] : [];

  return {
    name: 'node.termination',
    sources: [
      ownKey(resources.nodes),
      source(nodeClaims, ({ before, after }) => wakeLeaving(after?.status?.nodeName ?? before?.status?.nodeName)),
      source(resources.pods, ({ before, after }) => (after === undefined ? wakeLeaving(before?.spec?.nodeName) : [])),
      source(resources.volumeAttachments, ({ before, after }) =>
        after === undefined ? wakeLeaving(before?.spec?.nodeName) : [],
      ),
    ],
    concurrency: concurrencyFor(settings, 100, 5_000),
    backoff: { baseMs: 100, maxMs: 10_000 },
    async reconcile(key) {
      const node = cluster.nodes.get(key);
      if (node === undefined || !isOurs(node)) return done;
      try {
        return await terminate(node);
      } catch (error) {
        // Another writer was first, or the node is gone: the watch brings the newer state.
        if (isKubeError(error, 'Conflict')) return { kind: 'retry' };
        if (isKubeError(error, 'NotFound')) return done;
        throw error;
      }
    },
  };
}

function isReady(node: Node): boolean {
  return node.status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false;
}
