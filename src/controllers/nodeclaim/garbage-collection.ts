// nodeclaim.garbagecollection: claims whose machine vanished behind our back are deleted, so that their pods are planned
// for again. A node that still reports Ready speaks against it, whatever the provider's list says; claims that never
// registered are left to the liveness step.
import { conditionType, type NodeClaim } from '../../api/index.ts';
import { again, type Controller, type ControllerContext } from '../context.ts';
import { deleteClaim } from '../writes.ts';
import { claimCondition } from './claim-conditions.ts';
import type { ClaimMetrics } from './claim-metrics.ts';

const everyMs = 120_000;

export function garbageCollectionController(context: ControllerContext, metrics: ClaimMetrics): Controller {
  const { cloud, cluster, isManaged, log } = context;

  const isEstablished = (claim: NodeClaim): boolean =>
    isManaged(claim.spec.nodeClassRef) &&
    claim.metadata.deletionTimestamp === undefined &&
    Boolean(claim.status?.providerID) &&
    claimCondition(claim, conditionType.registered)?.status === 'True';

  const hasReadyNode = (providerID: string): boolean =>
    cluster.nodes
      .filedUnder(providerID)
      .some(({ status }) => status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True'));

  const collect = async (claim: NodeClaim): Promise<void> => {
    await deleteClaim(context, claim);
    metrics.countDisrupted(claim, 'garbage_collected');
    log.debug('garbage collecting nodeclaim with no cloudprovider representation', {
      controller: 'nodeclaim.garbagecollection',
      NodeClaim: { name: claim.metadata.name },
      'provider-id': claim.status?.providerID,
    });
  };

  return {
    name: 'nodeclaim.garbagecollection',
    sources: [],
    startKeys: ['all'],
    concurrency: 1,
    async reconcile() {
      // Claims first: a machine launched while the provider lists is then not among those it should have listed.
      const claims = cluster.claims.list().filter(isEstablished);
      const listed = await cloud.list();
      const alive = new Set(listed.filter(({ isDeleting }) => isDeleting !== true).map(({ providerID }) => providerID));
      const lost = claims.filter(({ status }) => {
        const providerID = status?.providerID ?? '';
        return !alive.has(providerID) && !hasReadyNode(providerID);
      });
      await Promise.all(lost.map(collect));
      return again(everyMs);
    },
  };
}
