// Asks for the reboot of a node: its claim says so, by when its pods have to be gone, and how often that was asked before.
// The controller of reboots does the rest, also after a restart of this process.
import {
  annotation,
  conditionReason,
  conditionType,
  disruptionReason,
  durationMs,
  isTrue,
  type NodeClaim,
} from '../../api/index.ts';
import { formatGoDuration, formatTime, KerfError } from '../../base/index.ts';
import { type Repair, rebootTimes } from '../../core/index.ts';
import type { ControllerContext } from '../context.ts';
import { withCondition } from '../nodeclaim/claim-conditions.ts';
import { nodeClaims } from '../own-resources.ts';
import { patchObject, patchStatus } from '../writes.ts';

export async function requestReboot(
  { clock, cluster, kube }: Pick<ControllerContext, 'clock' | 'cluster' | 'kube'>,
  name: string,
  repair: Repair | undefined,
): Promise<NodeClaim> {
  // Asked now: the model may be behind, and a node must not be rebooted twice.
  const claim = await kube.get(nodeClaims, { name });
  const isBusy = isTrue(claim.status?.conditions, conditionType.rebooting);
  if (isBusy || claim.metadata.deletionTimestamp !== undefined) {
    throw new KerfError('AlreadyDisrupting', `NodeClaim ${name} reboots already or is being deleted`);
  }
  const annotated = withRequest(claim, repair, clock.now());
  const noted = await patchObject(kube, nodeClaims, claim, annotated, { locked: true });
  const reason = disruptionReason.unhealthy;
  const marked = withCondition(
    noted,
    { type: conditionType.disruptionReason, status: 'True', reason, message: reason },
    clock.now(),
  );
  const message = `rebooting for ${repair?.condition ?? ''}/${repair?.reason ?? ''}`;
  const requested = withCondition(
    marked,
    { type: conditionType.rebooting, status: 'True', reason: conditionReason.rebootRequested, message },
    clock.now(),
  );
  const written = await patchStatus(kube, nodeClaims, noted, requested);
  cluster.setClaim(written);
  return written;
}

function withRequest(claim: NodeClaim, repair: Repair | undefined, nowMs: number): NodeClaim {
  const annotations = { ...claim.metadata.annotations };
  const graces = [repair?.graceMs, durationMs(claim.spec.terminationGracePeriod)];
  const graceMs = Math.min(...graces.map((each) => each ?? Number.POSITIVE_INFINITY));
  if (Number.isFinite(graceMs)) annotations[annotation.rebootTerminationGracePeriod] = formatGoDuration(graceMs);
  else delete annotations[annotation.rebootTerminationGracePeriod];
  annotations[annotation.reboots] = [...rebootTimes(claim as never, nowMs), nowMs].map(formatTime).join(',');
  return { ...claim, metadata: { ...claim.metadata, annotations } };
}
