// The end of a claim that the controller itself decides on: the claim says why in a condition, an event says it when it
// happens, and the log when it is done. All three take it from here; a claim without the condition was deleted by others.
import { conditionType, type NodeClaim } from '../../api/index.ts';
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
  const { code, message, silent } = end;
  await note(context, claim, end);
  await deleteClaim(context, claim);
  if (silent === true) return;
  const type = code === 'Expired' || code === 'ScaledDown' ? 'Normal' : 'Warning';
  context.recorder.publish({
    subject: aboutClaim(claim),
    type,
    reason: code,
    message: `Deleted: ${message}`.slice(0, longestEvent),
  });
}

/** Best effort: a claim that changed meanwhile, or is gone, ends all the same. */
async function note(
  { clock, cluster, kube }: EndContext,
  claim: NodeClaim,
  { code, message }: ClaimEnd,
): Promise<void> {
  const change = { type: conditionType.deletionReason, status: 'True', reason: code, message } as const;
  try {
    cluster.setClaim(await patchStatus(kube, nodeClaims, claim, withRemark(claim, change, clock.now())));
  } catch (error) {
    if (!isKubeError(error)) throw error;
  }
}

/** Why the claim ends, for the last line about it. */
export function endOf(claim: NodeClaim): string {
  const own = claimCondition(claim, conditionType.deletionReason);
  if (own?.message) return own.message;
  const disrupted = claimCondition(claim, conditionType.disruptionReason);
  if (disrupted?.status === 'True') return `disrupted for ${disrupted.reason ?? 'an unknown reason'}`;
  return 'its deletion was asked for by someone else';
}
