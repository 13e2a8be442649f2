// What belongs to a class.
import { awsGroup, type NodeClaim } from '../../api/index.ts';

/** A NodeClaim, or the template of a NodePool. */
export const isOfClass = (
  { spec }: { spec: Pick<NodeClaim['spec'], 'nodeClassRef'> },
  nodeClassName: string,
): boolean =>
  spec.nodeClassRef.group === awsGroup &&
  spec.nodeClassRef.kind === 'EC2NodeClass' &&
  spec.nodeClassRef.name === nodeClassName;

export function claimsOf(claims: Iterable<NodeClaim>, nodeClassName: string): NodeClaim[] {
  return [...claims].filter((claim) => isOfClass(claim, nodeClassName));
}
