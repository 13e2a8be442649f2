// By when the pods of a claim have to be gone. The bound is put on just before the claim is deleted, so that the time its
// replacement took is not taken from its pods, and is only ever made shorter.
import { annotation, durationMs, type NodeClaim } from '../../api/index.ts';
import { formatTime, parseTime } from '../../base/index.ts';
import type { ControllerContext } from '../context.ts';
import { nodeClaims } from '../own-resources.ts';
import { patchObject } from '../writes.ts';

export async function boundDrain(
  { clock, cluster, kube }: Pick<ControllerContext, 'clock' | 'cluster' | 'kube'>,
  claim: NodeClaim,
  graceMs: number,
): Promise<NodeClaim> {
  const ownMs = durationMs(claim.spec.terminationGracePeriod) ?? Number.POSITIVE_INFINITY;
  const deadlineMs = clock.now() + Math.min(graceMs, ownMs);
  const presentMs = parseTime(claim.metadata.annotations?.[annotation.terminationTimestamp] ?? '');
  if (presentMs !== undefined && presentMs <= deadlineMs) return claim;
  const annotations = { ...claim.metadata.annotations, [annotation.terminationTimestamp]: formatTime(deadlineMs) };
  const bounded = { ...claim, metadata: { ...claim.metadata, annotations } };
  const written = await patchObject(kube, nodeClaims, claim, bounded, { locked: true });
  cluster.setClaim(written);
  return written;
}
