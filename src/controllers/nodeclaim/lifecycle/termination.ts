// The end of a claim: its nodes are deleted (and drained by their own controller), then its machine, then its finalizer.
import { annotation, conditionType, durationMs, finalizer, label, type NodeClaim } from '../../../api/index.ts';
import { formatTime, parseTime } from '../../../base/index.ts';
import { resources } from '../../../ports/index.ts';
import { done, type Outcome } from '../../../runtime/index.ts';
import { again, type ControllerContext } from '../../context.ts';
import { aboutClaim } from '../../event-subjects.ts';
import { nodeClaims } from '../../own-resources.ts';
import { deleteObject, patchObject, patchStatus } from '../../writes.ts';
import { claimCondition, withCondition } from '../claim-conditions.ts';
import type { ClaimMetrics } from '../claim-metrics.ts';
import { endOf, withForeignEnd } from '../end-claim.ts';
import type { MachineRemoval } from '../machine-removal.ts';
import { whyForeignNode } from './foreign-node.ts';
import type { ClaimLauncher } from './launch.ts';

/** Until someone has taken the finalizer of a claim whose Node is not its own, or its status has been put right. */
const foreignAgainMs = 60_000;

export function terminating(
  context: ControllerContext,
  metrics: ClaimMetrics,
  launcher: ClaimLauncher,
  removals: MachineRemoval,
): (claim: NodeClaim) => Promise<Outcome> {
  const { clock, cluster, kube, log, recorder } = context;

  const withDeadline = async (claim: NodeClaim): Promise<NodeClaim> => {
    const graceMs = durationMs(claim.spec.terminationGracePeriod ?? '');
    if (graceMs === undefined || claim.metadata.annotations?.[annotation.terminationTimestamp] !== undefined)
      return claim;
    const deadline = formatTime((parseTime(claim.metadata.deletionTimestamp ?? '') ?? clock.now()) + graceMs);
    const annotations = { ...claim.metadata.annotations, [annotation.terminationTimestamp]: deadline };
    const written = await patchObject(kube, nodeClaims, claim, {
      ...claim,
      metadata: { ...claim.metadata, annotations },
    });
    log.info('annotated nodeclaim', {
      controller: 'nodeclaim.lifecycle',
      NodeClaim: { name: claim.metadata.name },
      [annotation.terminationTimestamp]: deadline,
    });
    recorder.publish({
      subject: aboutClaim(claim),
      type: 'Warning',
      reason: 'TerminationGracePeriodExpiring',
      message: `All pods will be deleted by ${deadline}`,
    });
    return written;
  };

  const sinceDeletion = (claim: NodeClaim): number =>
    (clock.now() - (parseTime(claim.metadata.deletionTimestamp ?? '') ?? clock.now())) / 1000;

  return async (found) => {
    let claim = await withForeignEnd(context, await withDeadline(found));
    const nodepool = metrics.nodepoolOf(claim);
    const providerID = claim.status?.providerID || (await launcher.launchedFor(claim))?.providerID;
    const nodes = providerID ? cluster.nodes.filedUnder(providerID) : [];
    // The node carries the label a moment before the claim says so, and pods come in that moment: both count.
    const isRegistered =
      claimCondition(claim, conditionType.registered)?.status === 'True' ||
      nodes.some(({ metadata }) => metadata.labels?.[label.registered] === 'true');
    if (isRegistered) {
      const staying = nodes.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const named = { ...claim, status: { ...claim.status, providerID: providerID ?? '' } };
      const kept = staying.length === 0 ? undefined : await removals.kept(named);
      if (kept !== undefined) return again(kept.againMs);
      for (const node of staying)
        if ((await whyForeignNode(context, claim, node)) !== undefined) return again(foreignAgainMs);
      for (const node of staying) await deleteObject(kube, resources.nodes, node);
      // The nodes' own controller drains them; their going wakes this claim again.
      if (nodes.length > 0) return done;
    }
    if (providerID) {
      // Names the machine even if the claim's status does not: its launch may never have been written down.
      const removal = await removals.remove({ ...claim, status: { ...claim.status, providerID } });
      const change = { type: conditionType.instanceTerminating, status: 'True' } as const;
      claim = await patchStatus(kube, nodeClaims, claim, withCondition(claim, change, clock.now()));
      cluster.setClaim(claim);
      if (!removal.isGone) return again(removal.againMs);
      metrics.instanceTermination.observe(sinceDeletion(claim), { nodepool });
    }
    const finalizers = (claim.metadata.finalizers ?? []).filter((each) => each !== finalizer.termination);
    const released = { ...claim, metadata: { ...claim.metadata, finalizers } };
    await patchObject(kube, nodeClaims, claim, released, { locked: true });
    launcher.forget(claim);
    metrics.claimTermination.observe(sinceDeletion(claim), { nodepool });
    metrics.claimsTerminated.add(metrics.labelsOf(claim));
    log.info('deleted nodeclaim', {
      controller: 'nodeclaim.lifecycle',
      NodeClaim: { name: claim.metadata.name },
      'provider-id': providerID,
      reason: endOf(context, claim),
    });
    return done;
  };
}
