// instance.garbagecollection: an instance of ours that no claim speaks for is terminated, and its Node deleted. Such
// instances are left when a process dies between the launch and writing it down, or when somebody removes a claim's
// finalizer by hand.
import { label, type NodeClaim } from '../../api/index.ts';
import { messageOf, parseTime } from '../../base/index.ts';
import { again, type Controller, type ControllerContext, deleteObject } from '../../controllers/index.ts';
import { type Instance, isCloudError, resources } from '../../ports/index.ts';

const name = 'instance.garbagecollection';
/** Long enough for a launch to be written down. */
const graceMs = 30_000;
/** Often at first, when an earlier process may have left something, then seldom. */
const hurriedRuns = 20;
const hurriedMs = 10_000;
const everyMs = 120_000;
const parallel = 100;

export function instanceGarbageCollectionController(context: ControllerContext): Controller {
  const { cloud, cluster, clock, kube, isManaged } = context;
  const log = context.log.with({ controller: name });
  let runs = 0;

  const isOrphan = (instance: Instance, claimed: ReadonlySet<string>): boolean =>
    instance.isDeleting !== true &&
    instance.labels[label.nodePool] !== undefined &&
    !claimed.has(instance.providerID) &&
    clock.now() - (parseTime(instance.createdAt ?? '') ?? 0) > graceMs;

  const collect = async ({ providerID }: Instance): Promise<void> => {
    try {
      await cloud.delete({ metadata: {}, spec: {}, status: { providerID } } as unknown as NodeClaim);
    } catch (error) {
      if (!isCloudError(error, 'notFound')) throw error;
    }
    log.debug('garbage collected cloudprovider instance', { 'provider-id': providerID });
    for (const node of cluster.nodes.filedUnder(providerID)) {
      await deleteObject(kube, resources.nodes, node);
      log.debug('garbage collected node', { Node: { name: node.metadata.name }, 'provider-id': providerID });
    }
  };

  return {
    name,
    sources: [],
    startKeys: ['all'],
    concurrency: 1,
    async reconcile() {
      // Instances first: a claim made while EC2 lists is then known when claims are read.
      const instances = await cloud.list();
      const claimed = new Set(
        cluster.claims
          .list()
          .filter(({ spec }) => isManaged(spec.nodeClassRef))
          .flatMap(({ status }) => status?.providerID ?? []),
      );
      const orphans = instances.filter((instance) => isOrphan(instance, claimed));
      const failures: unknown[] = [];
      const worker = async (): Promise<void> => {
        for (let orphan = orphans.shift(); orphan !== undefined; orphan = orphans.shift())
          await collect(orphan).catch((error: unknown) => failures.push(error));
      };
      await Promise.all(Array.from({ length: parallel }, worker));
      if (failures.length > 0)
        throw new Error(
          `cannot collect ${failures.length} instances that no NodeClaim speaks for: ${messageOf(failures[0])}`,
          { cause: failures[0] },
        );
      runs += 1;
      return again(runs < hurriedRuns ? hurriedMs : everyMs);
    },
  };
}
