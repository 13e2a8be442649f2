// Which of our claims an instance id belongs to.
import type { NodeClaim } from '../api/index.ts';
import { instanceIdOf } from '../aws/index.ts';
import type { ControllerContext } from '../controllers/index.ts';

export function claimsByInstance({ cluster, isManaged }: ControllerContext): Map<string, NodeClaim[]> {
  const claims = new Map<string, NodeClaim[]>();
  for (const claim of cluster.claims.list()) {
    const id = instanceIdOf(claim.status?.providerID ?? '');
    if (id === undefined || !isManaged(claim.spec.nodeClassRef)) continue;
    claims.set(id, [...(claims.get(id) ?? []), claim]);
  }
  return claims;
}
