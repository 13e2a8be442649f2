// The three stages between a deleted Node's taint and its end: its pods go, its volumes go, its machine goes. What each
// one waits for stands in the conditions of the node's claim; a node without a claim has none, and no machine to take.
import { annotation, conditionReason, conditionType, type NodeClaim } from '../../../api/index.ts';
import { formatTime, parseTime, shortList } from '../../../base/index.ts';
import { isKubeError, type Node, resources } from '../../../ports/index.ts';
import type { Outcome } from '../../../runtime/index.ts';
import { again, type ControllerContext } from '../../context.ts';
import { aboutNode, aboutPod } from '../../event-subjects.ts';
import type { EvictionQueue } from '../../eviction/eviction-queue.ts';
import { claimCondition, withCondition } from '../../nodeclaim/claim-conditions.ts';
import type { ClaimMetrics } from '../../nodeclaim/claim-metrics.ts';
import type { MachineRemoval } from '../../nodeclaim/machine-removal.ts';
import { nodeClaims } from '../../own-resources.ts';
import { Proofs } from '../../ownership/proofs.ts';
import { claimNamesOf, storedClaim, storedPods } from '../../ownership/stored.ts';
import { patchStatus } from '../../writes.ts';
import { type Deletion, drainOf } from './drain.ts';
import { attachmentsInTheWay } from './volumes.ts';

export interface Departure {
  node: Node;
  claim: NodeClaim | undefined;
  /** When everything still there is taken by force. */
  deadlineMs: number | undefined;
}

/** With an outcome the stage is not over yet. */
export interface StageResult {
  claim: NodeClaim | undefined;
  outcome?: Outcome;
}

export type Stage = (departure: Departure) => Promise<StageResult>;

const lookAgainMs = 1_000;
/** Load balancers and others need a moment to notice the taint, also when there is nothing to evict. */
const leastDrainMs = 5_000;
/** A cache that is behind catches up sooner; a malformed claim waits for someone to fix it. */
const unseenAgainMs = 10_000;
const mostNames = 5;

export function stagesOf(
  context: ControllerContext,
  metrics: ClaimMetrics,
  evictions: EvictionQueue,
  removals: MachineRemoval,
): readonly Stage[] {
  const { clock, cluster, kube, recorder, time } = context;
  const deadlines = new Proofs(clock);

  const write = async (
    claim: NodeClaim | undefined,
    type: string,
    status: 'True' | 'False' | 'Unknown',
    reason?: string,
  ): Promise<NodeClaim | undefined> => {
    if (claim === undefined) return undefined;
    const change = { type, status, ...(reason === undefined ? {} : { reason, message: reason }) };
    const written = await patchStatus(kube, nodeClaims, claim, withCondition(claim, change, clock.now()));
    if (written !== claim) cluster.setClaim(written);
    return written;
  };

  const remove = async ({ pod, graceSeconds, wantedSeconds }: Deletion, deadlineMs: number): Promise<void> => {
    const { namespace = '', name = '', uid = '' } = pod.metadata;
    try {
      await kube.delete(
        resources.pods,
        { namespace, name },
        { gracePeriodSeconds: graceSeconds, preconditions: { uid } },
      );
    } catch (error) {
      if (isKubeError(error, 'NotFound') || isKubeError(error, 'Conflict')) return;
      throw error;
    }
    recorder.publish({
      subject: aboutPod(pod),
      type: 'Normal',
      reason: 'Disrupted',
      message: `Deleting the pod to accommodate the terminationTime ${formatTime(deadlineMs)} of the node. The pod was granted ${graceSeconds} seconds of grace-period of its ${wantedSeconds} terminationGracePeriodSeconds. This bypasses the PDB of the pod and the do-not-disrupt annotation.`,
    });
  };

  /** The claim as it is stored has no later deadline: pods go by force, past what protects them, for no less. */
  const isOverdue = async ({ metadata: { name = '', uid = '' } }: NodeClaim, deadlineMs: number): Promise<boolean> =>
    deadlines.holds(`${uid} ${deadlineMs}`, async () => {
      const stored = await storedClaim(context, name);
      const storedMs = parseTime(String(stored?.annotations[annotation.terminationTimestamp] ?? ''));
      return stored?.uid === uid && storedMs !== undefined && storedMs <= deadlineMs;
    });

  const removeAll = async (
    overdue: readonly Deletion[],
    { claim, deadlineMs }: Pick<Departure, 'claim' | 'deadlineMs'>,
  ): Promise<void> => {
    if (overdue.length === 0 || claim === undefined || deadlineMs === undefined) return;
    if (await isOverdue(claim, deadlineMs)) await Promise.all(overdue.map((each) => remove(each, deadlineMs)));
  };

  const drain: Stage = async ({ node, claim: found, deadlineMs }) => {
    const name = node.metadata.name ?? '';
    const { waiting, evict, remove: overdue } = drainOf(cluster.pods.on(name), time.cautiousNow(), deadlineMs);
    const present = found === undefined ? undefined : claimCondition(found, conditionType.drained);
    const isOver = waiting === 0 && present?.status === 'True';
    const { draining } = conditionReason;
    const claim = isOver ? found : await write(found, conditionType.drained, 'Unknown', draining);
    if (waiting > 0) {
      recorder.publish({
        subject: aboutNode(node),
        type: 'Warning',
        reason: 'FailedDraining',
        message: `Failed to drain node, ${waiting} pods are waiting to be evicted`,
        // The count changes from second to second; one event tells enough.
        dedupeValues: [name, 'waiting'],
      });
      evictions.add(evict);
      await removeAll(overdue, { claim, deadlineMs });
      return { claim, outcome: again(lookAgainMs) };
    }
    if (isOver) return { claim };
    const drained = claim === undefined ? undefined : claimCondition(claim, conditionType.drained);
    const sinceMs = parseTime(drained?.lastTransitionTime ?? '') ?? clock.now();
    const leftMs = sinceMs + leastDrainMs - clock.now();
    if (claim !== undefined && leftMs > 0) return { claim, outcome: again(leftMs) };
    // A pod that came just before the taint may not have reached the cache: an empty node is proven by what is stored.
    const unseen = drainOf(await storedPods(context, name), time.cautiousNow(), deadlineMs);
    if (unseen.waiting > 0) {
      await removeAll(unseen.remove, { claim, deadlineMs });
      return { claim, outcome: again(lookAgainMs) };
    }
    if (claim === undefined) return { claim };
    metrics.nodesDrained.add({ nodepool: metrics.nodepoolOf(claim) });
    return { claim: await write(claim, conditionType.drained, 'True') };
  };

  const detachVolumes: Stage = async ({ node, claim, deadlineMs }) => {
    const names = attachmentsInTheWay(cluster, node.metadata.name ?? '', time.cautiousNow());
    const { volumesDetached } = conditionType;
    if (names.length === 0) return { claim: await write(claim, volumesDetached, 'True') };
    if (deadlineMs !== undefined && clock.now() > deadlineMs) {
      return { claim: await write(claim, volumesDetached, 'False', conditionReason.terminationGracePeriodElapsed) };
    }
    recorder.publish({
      subject: aboutNode(node),
      type: 'Normal',
      reason: 'AwaitingVolumeDetachment',
      message: `Awaiting deletion of bound volumeattachments (${shortList(names, mostNames)})`,
      dedupeValues: [node.metadata.name ?? ''],
    });
    const waiting = await write(claim, volumesDetached, 'Unknown', conditionReason.awaitingVolumeDetachment);
    return { claim: waiting, outcome: again(lookAgainMs) };
  };

  /** A claim that the cache does not have, or that cannot be parsed, still owns the machine: its node stays with it. */
  const isOwnedUnseen = async (node: Node): Promise<boolean> => {
    if (cluster.claims.filedUnder(node.spec?.providerID ?? '').length > 0) return false;
    for (const name of claimNamesOf(node)) {
      const stored = await storedClaim(context, name);
      if (stored !== undefined && stored.providerID === node.spec?.providerID) return true;
    }
    return false;
  };

  const takeMachine: Stage = async ({ node, claim }) => {
    if (claim === undefined) return (await isOwnedUnseen(node)) ? { claim, outcome: again(unseenAgainMs) } : { claim };
    const removal = await removals.remove(claim);
    const written = await write(claim, conditionType.instanceTerminating, 'True');
    return removal.isGone ? { claim: written } : { claim: written, outcome: again(removal.againMs) };
  };

  return [drain, detachVolumes, takeMachine];
}
