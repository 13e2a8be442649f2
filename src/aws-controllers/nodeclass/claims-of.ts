// The NodeClaims of a class.
import { awsGroup, type NodeClaim } from '../../api/index.ts';

export const isOfClass = ({ spec }: Pick<NodeClaim, 'spec'>, nodeClassName: string): boolean =>
  spec.nodeClassRef.group === awsGroup &&
  spec.nodeClassRef.kind === 'EC2NodeClass' &&
  spec.nodeClassRef.name === nodeClassName;

export function claimsOf(claims: Iterable<NodeClaim>, nodeClassName: string): NodeClaim[] {
  return [...claims].filter((claim) => isOfClass(claim, nodeClassName));
}
