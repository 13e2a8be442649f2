// capacityreservation.capacitytype: EC2 keeps an instance running when its reservation ends or is taken away, at on-demand
// price. The claim and its nodes then say so; the instance itself is not replaced for it.
import { awsLabel, capacityType, label, type NodeClaim } from '../../api/index.ts';
import { again, type Controller, type ControllerContext, nodeClaims, patchObject } from '../../controllers/index.ts';
import { isKubeError, type KubeObject, type Resource, resources } from '../../ports/index.ts';

const everyMs = 60_000;

export function capacityTypeController(context: ControllerContext): Controller {
  const { cloud, cluster, kube, isManaged } = context;
  const log = context.log.with({ controller: 'capacityreservation.capacitytype' });

  const demote = async <T extends KubeObject>(resource: Resource<T>, object: T): Promise<void> => {
    const { labels = {}, name } = object.metadata;
    if (labels[label.capacityType] !== capacityType.reserved) return;
    const { [awsLabel.capacityReservationId]: id, [awsLabel.capacityReservationType]: _type, ...kept } = labels;
    const changed = { ...kept, [label.capacityType]: capacityType.onDemand };
    try {
      await patchObject(kube, resource, object, { ...object, metadata: { ...object.metadata, labels: changed } });
      log.info('updated capacity type', { [resource.kind]: { name }, 'capacity-reservation-id': id });
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error;
    }
  };

  const isReserved = ({ labels }: KubeObject['metadata']): boolean =>
    labels?.[label.capacityType] === capacityType.reserved;

  /** The claim itself may have been fixed in an earlier pass that did not get to its node. */
  const isSuspect = ({ metadata, spec, status }: NodeClaim): boolean =>
    isManaged(spec.nodeClassRef) &&
    metadata.deletionTimestamp === undefined &&
    Boolean(status?.providerID) &&
    (isReserved(metadata) || nodesOf(status?.providerID).some((node) => isReserved(node.metadata)));

  const nodesOf = (providerID = '') =>
    cluster.nodes.filedUnder(providerID).filter(({ metadata }) => metadata.labels?.[label.registered] === 'true');

  return {
    name: 'capacityreservation.capacitytype',
    sources: [],
    startKeys: ['all'],
    concurrency: 1,
    async reconcile() {
      const suspects = cluster.claims.list().filter(isSuspect);
      if (suspects.length === 0) return again(everyMs);
      const instances = new Map((await cloud.list()).map((each) => [each.providerID, each]));
      for (const claim of suspects) {
        const { providerID = '' } = claim.status ?? {};
        if (instances.get(providerID)?.labels[label.capacityType] !== capacityType.onDemand) continue;
        await demote(nodeClaims, claim);
        for (const node of nodesOf(providerID)) await demote(resources.nodes, node);
      }
      return again(everyMs);
    },
  };
}
