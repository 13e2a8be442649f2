// The end of a class: it stays until its last NodeClaim is gone, then what was made for it in AWS goes, then it does.
import { awsFinalizer, type EC2NodeClass } from '../../api/index.ts';
import { ec2NodeClasses } from '../../aws/index.ts';
import {
  again,
  type ControllerContext,
  isStoredAsLeaving,
  nodeClaims,
  patchObject,
  storedClaims,
  subjectOf,
} from '../../controllers/index.ts';
import { done, type Outcome } from '../../runtime/index.ts';
import { claimsOf, isOfClass } from './claims-of.ts';
import { minuteMs } from './draft.ts';

export interface TerminationParts {
  /** Absent where IAM cannot be reached: what was made there stays. */
  profiles?: { deleteAllOf(nodeClass: EC2NodeClass): Promise<void> };
  launchTemplates: { deleteFor(nodeClassName: string): Promise<void> };
  /** Forgets what was learnt about the class. */
  forget(nodeClassName: string): void;
}

const namesShown = 5;
/** A cache that disagrees with what is stored catches up sooner. */
const unprovenMs = 10_000;

export async function terminate(
  context: ControllerContext,
  parts: TerminationParts,
  nodeClass: EC2NodeClass,
): Promise<Outcome> {
  const { name = '', finalizers = [] } = nodeClass.metadata;
  if (!finalizers.includes(awsFinalizer.termination)) return done;
  const waitingFor = await claimsLeft(context, name);
  if (waitingFor.length > 0) {
    context.recorder.publish({
      subject: subjectOf(`${ec2NodeClasses.group}/${ec2NodeClasses.version}`, ec2NodeClasses.kind, nodeClass),
      type: 'Normal',
      reason: 'WaitingOnNodeClaimTermination',
      message: `Waiting on NodeClaim termination for ${listed(waitingFor)}`,
    });
    return again(10 * minuteMs);
  }
  if (!(await isStoredAsLeaving(context, ec2NodeClasses, nodeClass))) return again(unprovenMs);
  await parts.profiles?.deleteAllOf(nodeClass);
  await parts.launchTemplates.deleteFor(name);
  const kept = finalizers.filter((each) => each !== awsFinalizer.termination);
  const after = { ...nodeClass, metadata: { ...nodeClass.metadata, finalizers: kept } };
  await patchObject(context.kube, ec2NodeClasses, nodeClass, after, { locked: true });
  parts.forget(name);
  return done;
}

/** Names of its claims, cached and stored. One whose class cannot be read may be of any. */
async function claimsLeft(context: ControllerContext, name: string): Promise<string[]> {
  const cached = claimsOf(context.cacheOf(nodeClaims).values(), name).map(({ metadata }) => metadata.name ?? '');
  // The cache is enough to wait; to conclude that there are none, the API server is asked.
  if (cached.length > 0) return cached;
  const stored = await storedClaims(context);
  return stored
    .filter(({ nodeClass }) => nodeClass === undefined || isOfClass({ spec: { nodeClassRef: nodeClass } }, name))
    .map((claim) => claim.name);
}

function listed(names: readonly string[]): string {
  const shown = names.toSorted().slice(0, namesShown).join(', ');
  return names.length <= namesShown ? shown : `${shown} and ${names.length - namesShown} other(s)`;
}
