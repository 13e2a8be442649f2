// nodeclaim.garbagecollection: claims whose machine vanished behind our back are deleted, so that their pods are planned
// for again. A node that still reports Ready speaks against it, whatever the provider's list says; claims that never
// registered are left to the liveness step. A provider's list may leave a machine out for a while, so it takes two looks,
// the provider's word about the machine itself, a look at the Node as it is stored, and only a share of all claims goes
// per run.
import { conditionType, type NodeClaim } from '../../api/index.ts';
import { isCloudError, type Node, resources } from '../../ports/index.ts';
import { again, type Controller, type ControllerContext, untrustedClockMs } from '../context.ts';
import { aboutClaim } from '../event-subjects.ts';
import { Collection } from '../ownership/collection.ts';
import { storedObject } from '../ownership/stored.ts';
import { claimCondition } from './claim-conditions.ts';
import type { ClaimMetrics } from './claim-metrics.ts';
import { endClaim } from './end-claim.ts';

const name = 'nodeclaim.garbagecollection';
const everyMs = 120_000;

export function garbageCollectionController(context: ControllerContext, metrics: ClaimMetrics): Controller {
  const { clock, cloud, cluster, isManaged, log, recorder, time } = context;
  const collection = new Collection<NodeClaim>({
    controller: name,
    clock,
    metrics: context.metrics,
    keyOf: ({ metadata }) => metadata.uid ?? metadata.name ?? '',
    // The provider's list, its answer about the machine itself and the Node agree.
    atLeast: 10,
  });

  const isEstablished = (claim: NodeClaim): boolean =>
    isManaged(claim.spec.nodeClassRef) &&
    claim.metadata.deletionTimestamp === undefined &&
    Boolean(claim.status?.providerID) &&
    claimCondition(claim, conditionType.registered)?.status === 'True';

  const hasReadyNode = (providerID: string): boolean => cluster.nodes.filedUnder(providerID).some(isReady);

  const hasStoredReadyNode = async ({ status }: NodeClaim): Promise<boolean> => {
    if (!status?.nodeName) return false;
    const node = await storedObject(context, resources.nodes, status.nodeName);
    return node !== undefined && node.spec?.providerID === status.providerID && isReady(node);
  };

  const isMachineGone = async (claim: NodeClaim): Promise<boolean> => {
    try {
      return (await cloud.get(claim.status?.providerID ?? '')).isDeleting === true;
    } catch (error) {
      if (isCloudError(error, 'notFound')) return true;
      throw error;
    }
  };

  const tellHeldBack = (heldBack: readonly NodeClaim[], total: number): void => {
    const message = `${heldBack.length} more of ${total} NodeClaims have no machine at the provider than are deleted at once; they are looked at again in a minute`;
    for (const claim of heldBack)
      recorder.publish({ subject: aboutClaim(claim), type: 'Warning', reason: 'GarbageCollectionHeldBack', message });
  };

  const collect = async (claim: NodeClaim): Promise<void> => {
    if (!(await isMachineGone(claim)) || (await hasStoredReadyNode(claim))) return;
    await endClaim(context, claim, {
      code: 'MachineGone',
      message: 'its machine is gone: the provider no longer has it',
    });
    metrics.countDisrupted(claim, 'garbage_collected');
    log.debug('garbage collecting nodeclaim with no cloudprovider representation', {
      controller: name,
      NodeClaim: { name: claim.metadata.name },
      'provider-id': claim.status?.providerID,
    });
  };

  return {
    name,
    sources: [],
    startKeys: ['all'],
    concurrency: 1,
    async reconcile() {
      if (time.problem() !== undefined) return again(untrustedClockMs);
      // Claims first: a machine launched while the provider lists is then not among those it should have listed.
      const claims = cluster.claims.list().filter(isEstablished);
      const listed = await cloud.list();
      const alive = new Set(listed.filter(({ isDeleting }) => isDeleting !== true).map(({ providerID }) => providerID));
      const lost = claims.filter(({ status }) => {
        const providerID = status?.providerID ?? '';
        return !alive.has(providerID) && !hasReadyNode(providerID);
      });
      const { due, heldBack, againMs } = collection.choose(lost, claims.length);
      tellHeldBack(heldBack, claims.length);
      await Promise.all(due.map(collect));
      return again(againMs ?? everyMs);
    },
  };
}

const isReady = ({ status }: Node): boolean =>
  status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false;
