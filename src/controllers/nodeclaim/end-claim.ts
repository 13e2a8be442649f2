// The end of a claim: the claim says why in a condition, an event says it when it happens, and the log when it is done. All
// three take it from here, whether the controller itself decided on it or found the claim deleted by others.
import { conditionType, label, type NodeClaim } from '../../api/index.ts';
import { isKubeError } from '../../ports/index.ts';
import type { ControllerContext } from '../context.ts';
import { aboutClaim } from '../event-subjects.ts';
import { nodeClaims } from '../own-resources.ts';
import { deleteClaim, patchStatus } from '../writes.ts';
import { claimCondition, withRemark } from './claim-conditions.ts';

export interface ClaimEnd {
  /** As a reason of conditions and events. */
  code: string;
  /** A clause whose subject is the claim. */
  message: string;
  /** Something else has announced it already. */
  silent?: boolean;
}

/** What an event may hold. */
const longestEvent = 1_024;

type EndContext = Pick<ControllerContext, 'clock' | 'cluster' | 'kube' | 'recorder'>;

export async function endClaim(context: EndContext, claim: NodeClaim, end: ClaimEnd): Promise<void> {
  await note(context, claim, end);
  await deleteClaim(context, claim);
  announce(context, claim, end);
}

/** A claim whose deletion others asked for, with its reason written down as far as it can be known; once. */
export async function withForeignEnd(context: EndContext, claim: NodeClaim): Promise<NodeClaim> {
  if (claimCondition(claim, conditionType.deletionReason) !== undefined) return claim;
  const end = foreignEnd(context, claim);
  const noted = await note(context, claim, end);
  if (noted === undefined) return claim;
  announce(context, claim, end);
  return noted;
}

function foreignEnd({ cluster }: EndContext, claim: NodeClaim): ClaimEnd {
  const disrupted = claimCondition(claim, conditionType.disruptionReason);
  if (disrupted?.status === 'True')
    return { code: 'Disrupted', message: `was disrupted for ${disrupted.reason ?? 'an unknown reason'}`, silent: true };
  const owner = claim.metadata.ownerReferences?.find(({ kind }) => kind === 'NodePool');
  const poolName = owner?.name ?? claim.metadata.labels?.[label.nodePool];
  const pool = cluster.nodePools.get(poolName ?? '');
  const isPoolGone = pool?.metadata.deletionTimestamp !== undefined || (owner && pool?.metadata.uid !== owner.uid);
  if (poolName !== undefined && isPoolGone === true)
    return { code: 'NodePoolDeleted', message: `its NodePool ${poolName} was deleted` };
  return { code: 'Deleted', message: 'its deletion was requested by a user or another program' };
}

/** What was asked for, or goes by a rule that its user wrote, is not a warning. */
const expected = ['Expired', 'ScaledDown', 'Deleted', 'NodeDeleted', 'NodePoolDeleted'];

function announce({ recorder }: EndContext, claim: NodeClaim, { code, message, silent }: ClaimEnd): void {
  if (silent === true) return;
  recorder.publish({
    subject: aboutClaim(claim),
    type: expected.includes(code) ? 'Normal' : 'Warning',
    reason: code,
    message: `Deleted: ${message}`.slice(0, longestEvent),
  });
}

/** Best effort: a claim that changed meanwhile, or is gone, ends all the same. */
async function note(
  { clock, cluster, kube }: EndContext,
  claim: NodeClaim,
  { code, message }: ClaimEnd,
): Promise<NodeClaim | undefined> {
  const change = { type: conditionType.deletionReason, status: 'True', reason: code, message } as const;
  try {
    const noted = await patchStatus(kube, nodeClaims, claim, withRemark(claim, change, clock.now()));
    cluster.setClaim(noted);
    return noted;
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return undefined;
  }
}

/** Why the claim ends, for the last line about it. */
export function endOf(context: EndContext, claim: NodeClaim): string {
  return claimCondition(claim, conditionType.deletionReason)?.message || foreignEnd(context, claim).message;
}
